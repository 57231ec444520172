// What the commands say about themselves, as plain data taken from the flags that they declare.
// Help, the man page and the completions of shells are made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hum::cli {

// Titles of groups of flags. The first is the default; only --help-all shows the second; flags of
// the third belong to every command.
inline constexpr std::string_view kFlags = "Flags", kResearchFlags = "Flags for research",
                                  kCommonFlags = "Flags of all commands";

// What help calls the value of a flag that is not one of a few names. Completions offer the presets
// for the last.
inline constexpr std::string_view kText = "TEXT", kWholeNumber = "N", kNumber = "NUMBER",
                                  kPreset = "PRESET";

struct FlagOutline {
  std::string name;                  // "--output"; "INPUT" for a positional argument
  std::string letter;                // "-o"; empty: none
  std::string off;                   // "--no-melodia", for a switch that is on by default
  std::string value;                 // "FILE", "guided|plain"; empty: a switch
  std::vector<std::string> choices;  // if the value is one of a few
  std::string help, default_value, group;
  bool is_positional = false, is_required = false, takes_several = false;
};

struct CommandOutline {
  std::string name;  // "hum", "hum notes", "hum model check"
  std::string summary;
  std::string footer;              // the example
  std::vector<FlagOutline> flags;  // positional arguments first; visible ones only
  std::vector<CommandOutline> commands;
  bool needs_command = false;  // it does nothing itself

  std::string last_word() const { return name.substr(name.rfind(' ') + 1); }
};

// The whole program.
CommandOutline program_outline();

// The command and all below it, each before those below it.
std::vector<const CommandOutline*> all_of(const CommandOutline& command);

// The command with these words ("model", "check"). Throws kUsage with the nearest name.
const CommandOutline& find_command(const CommandOutline& program,
                                   const std::vector<std::string>& words);

// Throws kUsage with the nearest name: `command` has no command `word`.
[[noreturn]] void refuse_command(const CommandOutline& command, const std::string& word);

}  // namespace hum::cli
