// hum help, completion and man: what hum says about its own command line.
#include "cli/help.h"

#include <iostream>

#include "cli/commands/commands.h"
#include "cli/completion.h"
#include "cli/man_page.h"

namespace hum::cli {
namespace {

struct HelpArgs {
  std::vector<std::string> command;
  template <class V>
  void declare(V& v) {
    v.positional("command", command, "a command, such as: model check", /*required=*/false);
  }
};

int help(HelpArgs& args) {
  const CommandOutline program = program_outline();
  std::cout << help_text(find_command(program, args.command), /*is_complete=*/false);
  return 0;
}

struct CompletionArgs {
  std::string shell;
  template <class V>
  void declare(V& v) {
    v.positional("shell", shell, "bash, zsh or fish");
  }
};

int completion(CompletionArgs& args) {
  const auto shell = parse_name<Shell>(args.shell, ExitCode::kUsage, "SHELL");
  std::cout << completion_script(program_outline(), shell);
  return 0;
}

struct ManArgs {
  template <class V>
  void declare(V&) {}
};

int man(ManArgs&) {
  std::cout << man_page(program_outline(), HUM_VERSION);
  return 0;
}

}  // namespace

const Command kHelp = {"help", "print the help of a command", "hum help model check",
                       make_command<HelpArgs, help>};
const Command kCompletion = {"completion", "print a script that completes commands in a shell",
                             "hum completion bash > ~/.local/share/bash-completion/completions/hum",
                             make_command<CompletionArgs, completion>};
const Command kMan = {"man", "print the manual page", "hum man | man -l -",
                      make_command<ManArgs, man>};

}  // namespace hum::cli
