#include "cli/dispatch.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/error.h"
#include "cli/command.h"
#include "pjrt/find_plugin.h"

namespace hum::cli {
namespace {

// "codec encode" lives in the subcommand "encode" of the subcommand "codec".
CLI::App& subcommand(CLI::App& root, std::string_view path, const std::string& summary) {
  const auto space = path.find(' ');
  if (space == std::string_view::npos) {
    return *root.add_subcommand(std::string(path), summary);
  }
  const std::string group(path.substr(0, space));
  const auto existing =
      root.get_subcommands([&](CLI::App* app) { return app->get_name() == group; });
  CLI::App* parent = existing.empty() ? nullptr : existing.front();
  if (parent == nullptr) {
    parent = root.add_subcommand(group, std::string(group_summary(group)));
    parent->require_subcommand(1);
    parent->footer("Run 'hum " + group + " COMMAND --help' for details.");
  }
  return subcommand(*parent, path.substr(space + 1), summary);
}

// Sets the device of every session that the command opens, and of the processes that it starts.
void choose_device(const std::string& device) {
  ::setenv("HUM_PLUGIN", pjrt::find_plugin(device).c_str(), /*overwrite=*/1);
}

}  // namespace

std::string FlagVisitor::dashed(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '_' ? '-' : c;
  return text;
}

template <typename T>
void FlagVisitor::add_option(const std::string& flags, T& value, std::string_view help) {
  app_.add_option(flags, value, std::string(help))->capture_default_str();
}

template <typename T>
void FlagVisitor::add_positional(const std::string& name, T& value, std::string_view help,
                                 bool required) {
  app_.add_option(name, value, std::string(help))->required(required);
}

void FlagVisitor::rest(std::vector<std::string>& words) {
  app_.prefix_command();
  app_.final_callback([app = &app_, &words] { words = app->remaining(); });
}

void FlagVisitor::add_switch(const std::string& flag, bool& value, const std::string& help) {
  CLI::Option* on = app_.add_flag_callback(
      "--" + flag, [&value] { value = true; }, help);
  CLI::Option* off = app_.add_flag_callback(
      "--no-" + flag, [&value] { value = false; }, "turn off: " + help);
  (value ? on : off)->group("");
}

void FlagVisitor::old_switch(std::string_view name, bool& value) {
  const std::string flag = prefix_ + dashed(name);
  add_switch(flag, value, "");
  for (const char* dashes : {"--", "--no-"}) app_.get_option(dashes + flag)->group("");
}

void FlagVisitor::add_choice(const std::string& flag, const std::string& names,
                             const std::string& chosen, const std::string& help,
                             std::function<void(const std::string&)> choose) {
  app_.add_option_function<std::string>(
          "--" + flag,
          [flag, choose = std::move(choose)](const std::string& text) {
            try {
              choose(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--" + flag, error.message());
            }
          },
          help)
      ->type_name(names)
      ->default_str(chosen);
}

#define HUM_FIELD_TYPE(T)                                                             \
  template void FlagVisitor::add_option<T>(const std::string&, T&, std::string_view); \
  template void FlagVisitor::add_positional<T>(const std::string&, T&, std::string_view, bool)
HUM_FIELD_TYPE(int64_t);
HUM_FIELD_TYPE(double);
HUM_FIELD_TYPE(std::string);
HUM_FIELD_TYPE(std::vector<int64_t>);
HUM_FIELD_TYPE(std::vector<double>);
HUM_FIELD_TYPE(std::vector<std::string>);
#undef HUM_FIELD_TYPE

int dispatch(std::vector<std::string> arguments) {
  CLI::App app("hum: hum a melody, get it back on the instrument of your choice.", "hum");
  app.require_subcommand(1);
  app.set_version_flag("--version", "hum " HUM_VERSION);
  app.add_option_function<std::string>(
         "--device", [](const std::string& device) { choose_device(device); },
         pjrt::known_devices() + ", or the path of a PJRT plugin (default: HUM_PLUGIN, else cpu)")
      ->type_name("DEVICE");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("hum: error: {}\nhint: add --help to the command to list its flags\n",
                       error.what());
  });
  app.footer("Start with:\n  hum generate examples/vocadito_10.wav --preset violin -o violin.wav");
  std::map<CLI::App*, std::unique_ptr<Invocation>> invocations;
  for (const Command& command : commands()) {
    CLI::App& sub = subcommand(app, command.name, std::string(command.summary));
    sub.footer("Example:\n  " + std::string(command.example));
    auto invocation = command.make();
    invocation->declare(sub);
    // --device may follow the command, but not among the words of a command that it runs (profile).
    if (!sub.get_prefix_command()) sub.fallthrough();
    invocations.emplace(&sub, std::move(invocation));
  }
  try {
    std::ranges::reverse(arguments);  // CLI11 expects the last one first
    app.parse(std::move(arguments));
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cout, std::cerr);
    return static_cast<int>(ExitCode::kUsage);
  }
  for (auto& [sub, invocation] : invocations) {
    // "plan" is a command, and a group of commands.
    if (sub->parsed() && sub->get_subcommands().empty()) return invocation->run();
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace hum::cli
