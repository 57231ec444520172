// The program: finds the command, parses its flags, turns errors into one line and an exit code.
#include <exception>
#include <iostream>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/command.h"
#include "cli/stop.h"

namespace hum::cli {
namespace {

// "train codec" lives in the subcommand "codec" of the subcommand "train".
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
    parent->footer("hum " + group + " COMMAND --help says more");
  }
  return subcommand(*parent, path.substr(space + 1), summary);
}

int report(const Error& error) {
  const bool interrupted = stop_signal() != 0;
  std::cerr << "hum: error: " << error.what() << std::endl;
  spdlog::debug("thrown at {}", error.where());
  return interrupted ? 128 + stop_signal() : static_cast<int>(error.code());
}

int run(int argc, char** argv) {
  CLI::App app("hum: hum a melody, get it back on the instrument of your choice.", "hum");
  app.require_subcommand(1);
  app.set_version_flag("--version", "hum " HUM_VERSION);
  app.footer("Start with:\n  hum generate examples/vocadito_10.wav --preset violin -o violin.wav");
  std::map<CLI::App*, std::unique_ptr<Invocation>> invocations;
  for (const Command& command : commands()) {
    CLI::App& sub = subcommand(app, command.name, std::string(command.summary));
    sub.footer("Example:\n  " + std::string(command.example));
    auto invocation = command.make();
    invocation->declare(sub);
    invocations.emplace(&sub, std::move(invocation));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cout, std::cerr);
    return static_cast<int>(ExitCode::kUsage);
  }
  for (auto& [sub, invocation] : invocations) {
    if (sub->parsed()) return invocation->run();
  }
  return static_cast<int>(ExitCode::kUsage);
}

// Every error becomes one line and an exit code.
int run_or_report(int argc, char** argv) {
  try {
    init_logging();
    install_stop_handler();
    return run(argc, argv);
  } catch (const Error& error) {
    return report(error);
  } catch (const std::exception& error) {
    std::cerr << "hum: error: " << error.what() << std::endl;
    return static_cast<int>(ExitCode::kFailure);
  }
}

}  // namespace
}  // namespace hum::cli

int main(int argc, char** argv) { hum::end_process(hum::cli::run_or_report(argc, argv)); }
