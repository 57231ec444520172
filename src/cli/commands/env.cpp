// hum env: lists every environment variable that hum reads.
#include "base/env.h"

#include <filesystem>
#include <iostream>

#include "base/folders.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/help.h"

namespace hum::cli {
namespace {

struct Args {
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("json", json, "print JSON");
  }
};

// A value may hold anything; on a terminal it stays on its line.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

// The variable with its help, and its value below if it is set.
std::string row_text(const EnvVariable& variable, const std::string& value) {
  std::string help(variable.help);
  if (!variable.default_value.empty() && help.find("default:") == std::string::npos) {
    help += fmt::format(" (default: {})", variable.default_value);
  }
  std::string text = two_columns(variable.name, help);
  if (!value.empty()) text += two_columns("", "= " + printable(value));
  return text;
}

std::string folders_text() {
  const auto shown = [](const std::filesystem::path& folder) {
    return folder.empty() ? "none: there is no home folder" : folder.string();
  };
  std::string text = "\nFolders:\n";
  text += two_columns("data", data_folder().string());
  for (const auto& folder : wheel_folders()) text += two_columns("plugins", folder.string());
  return text + two_columns("cache", shown(cache_folder())) +
         two_columns("runs", shown(runs_folder()));
}

int run(Args& args) {
  Json list = Json::array();
  for (const auto& variable : env_table()) {
    std::string value = env_string(variable.name);
    if (variable.secret && !value.empty()) value = "(hidden)";
    list.push_back({{"name", variable.name},
                    {"value", value},
                    {"default", variable.default_value},
                    {"help", variable.help}});
    if (!args.json) std::cout << row_text(variable, value);
  }
  if (args.json) {
    print_json(list, 1);
  } else {
    std::cout << folders_text();
  }
  return 0;
}

}  // namespace

const Command kEnv = {"env", "list the environment variables that hum reads", "hum env",
                      make_command<Args, run>};

}  // namespace hum::cli
