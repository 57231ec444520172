#include "cli/dispatch.h"

#include "base/error.h"
#include "cli/command_tree.h"
#include "cli/usage_error.h"

namespace hum::cli {

int dispatch(const std::vector<std::string>& arguments) {
  const auto tree = make_command_tree();
  try {
    // CLI11 expects the last one first.
    tree->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForVersion& version) {
    refuse_words_beside_version(tree->app);
    return tree->app.exit(version);
  } catch (const CLI::Success& success) {  // help was asked for
    refuse_unknown_commands(tree->app, arguments);
    return tree->app.exit(success);
  } catch (const CLI::ParseError& error) {
    fail_usage(tree->app, arguments, error);
  }
  refuse_misread_values(tree->app);
  for (auto& [app, invocation] : tree->invocations) {
    // "plan" is a command, and a group of commands.
    if (app->parsed() && app->get_subcommands().empty()) return invocation->run();
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace hum::cli
