// hum env: lists every environment variable that hum reads.
#include "base/env.h"

#include <iostream>

#include "base/json.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("json", json, "print JSON");
  }
};

int run(Args& args) {
  Json list = Json::array();
  for (const auto& variable : env_table()) {
    std::string value = env_string(variable.name);
    if (variable.secret && !value.empty()) value = "(hidden)";
    list.push_back({{"name", variable.name},
                    {"value", value},
                    {"default", variable.default_value},
                    {"help", variable.help}});
    if (args.json) continue;
    const std::string shown =
        value.empty() ? std::string(variable.default_value) : value + " (set)";
    std::cout << fmt::format("{:<26}{:<14}{}\n", variable.name, shown.empty() ? "-" : shown,
                             variable.help);
  }
  if (args.json) print_json(list, 1);
  return 0;
}

}  // namespace

const Command kEnv = {"env", "list the environment variables that hum reads", "hum env",
                      make_command<Args, run>};

}  // namespace hum::cli
