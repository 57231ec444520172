#include "cli/outline.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/names.h"

namespace hum::cli {

std::vector<const CommandOutline*> all_of(const CommandOutline& command) {
  std::vector<const CommandOutline*> all = {&command};
  for (const CommandOutline& below : command.commands) {
    const auto more = all_of(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

const CommandOutline& find_command(const CommandOutline& program,
                                   const std::vector<std::string>& words) {
  const CommandOutline* command = &program;
  for (const std::string& word : words) {
    const auto found = std::ranges::find(command->commands, word, &CommandOutline::last_word);
    if (found == command->commands.end()) refuse_command(*command, word);
    command = &*found;
  }
  return *command;
}

void refuse_command(const CommandOutline& command, const std::string& word) {
  // All names below, so that "check" suggests "model check".
  std::vector<std::string> names, below;
  for (const CommandOutline* one : all_of(command)) {
    if (one != &command) names.push_back(one->name.substr(command.name.size() + 1));
  }
  for (const CommandOutline& one : command.commands) below.push_back(one.last_word());
  const auto likely = likely_name(word, names);
  const std::string help = fmt::format("'{} --help' ", command.name);
  fail(ExitCode::kUsage, fmt::format("{} has no command '{}'", command.name, word),
       likely
           ? fmt::format("did you mean '{} {}'? {}lists the commands", command.name, *likely, help)
       : below.empty() ? help + "lists its flags"
                       : fmt::format("the commands are {}", fmt::join(below, ", ")));
}

}  // namespace hum::cli
