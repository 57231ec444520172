#include "cli/man_page.h"

#include <fmt/format.h>

#include "base/env.h"
#include "base/error.h"
#include "cli/help.h"

namespace hum::cli {
namespace {

struct ExitStatus {
  int code;
  std::string_view meaning;
};
// Those of docs/cli/README.md, in its words, as a test checks.
constexpr ExitStatus kExitStatuses[] = {
    {static_cast<int>(ExitCode::kOk), "success"},
    {static_cast<int>(ExitCode::kFailure), "failure: a bug, or an error of another kind"},
    {static_cast<int>(ExitCode::kUsage),
     "wrong usage: unknown command, flag, preset, model or hardware; value out of range; "
     "impossible layout of a plan"},
    {3, "hum plan audit read the plan and found a contradiction"},
    {static_cast<int>(ExitCode::kBadData),
     "bad data: damaged, truncated, too long, silent, without a melody, not UTF-8; a plan with "
     "nothing to check"},
    {static_cast<int>(ExitCode::kNoInput), "no input: a file is missing, or the weights are"},
    {static_cast<int>(ExitCode::kUnavailable),
     "unavailable: the plugin is missing or too old, the platform cannot run the program, or a "
     "server does not answer"},
    {static_cast<int>(ExitCode::kCannotCreate),
     "hum cannot create an output: missing folder, full disk"},
    {static_cast<int>(ExitCode::kTemporary),
     "temporary failure, try again: another process uses the folder; or a training reached "
     "loop.max_minutes"},
    {static_cast<int>(ExitCode::kNoPermission), "no permission to read or write a file"},
    {static_cast<int>(ExitCode::kConfig), "an error in a configuration file"},
    {130, "stopped by Ctrl-C"},
    {143, "stopped by SIGTERM"},
};

// Text as roff prints it: dashes that can be copied, no line that looks like a request.
std::string roff(std::string_view text) {
  std::string escaped = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '-') {
      escaped += "\\-";
    } else if (c == '\\') {
      escaped += "\\e";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string item(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(text));
}

std::string flags_text(const CommandOutline& command, bool is_common) {
  std::string text;
  for (const FlagOutline& flag : command.flags) {
    if ((flag.group == kCommonFlags) != is_common && !flag.is_positional) continue;
    if (flag.is_positional && is_common) continue;
    text += item(spelling_of(flag), description_of(flag));
  }
  return text;
}

std::string command_text(const CommandOutline& command) {
  std::string text = fmt::format(".SS {} {}\n{}.\n", roff(command.name), roff(usage_of(command)),
                                 roff(command.summary));
  text += flags_text(command, /*is_common=*/false);
  const size_t example = command.footer.find("\n  ");
  if (example != std::string::npos) {
    text += fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n",
                        roff(command.footer.substr(example + 3)));
  }
  return text;
}

}  // namespace

std::string man_page(const CommandOutline& program, const std::string& version) {
  std::string text = fmt::format(
      ".TH HUM 1 \"\" \"hum {}\" \"User Commands\"\n"
      ".SH NAME\nhum \\- {}\n"
      ".SH SYNOPSIS\n.B hum\n{}\n"
      ".SH DESCRIPTION\nResults go to stdout; progress, warnings and errors go to stderr. An error "
      "is a line that says what is wrong, and a line that suggests a remedy.\n"
      ".SH COMMANDS\n",
      version, roff(program.summary), roff(usage_of(program)));
  for (const CommandOutline* command : all_of(program)) {
    if (!command->needs_command) text += command_text(*command);
  }
  text += ".SH OPTIONS\nThese belong to every command.\n" + flags_text(program, /*is_common=*/true);
  text += ".SH ENVIRONMENT\n";
  for (const EnvVariable& variable : env_table()) text += item(variable.name, variable.help);
  text += ".SH EXIT STATUS\n";
  for (const ExitStatus& status : kExitStatuses) {
    text += item(fmt::format("{}", status.code), status.meaning);
  }
  return text;
}

}  // namespace hum::cli
