// Help texts. No line is longer than 100 columns, except one that a longer word fills.
#pragma once

#include <string>
#include <string_view>

#include "cli/outline.h"

namespace hum::cli {

// Usage, arguments, flags by group, commands, example. `is_complete`: with the flags for research,
// and the help of the commands below.
std::string help_text(const CommandOutline& command, bool is_complete);

// "INPUT [FLAGS]": the command line after the command's name.
std::string usage_of(const CommandOutline& command);

// "-o, --output FILE", "--[no-]melodia".
std::string spelling_of(const FlagOutline& flag);

// The flag's help with its default: "sample rate (default: 44100)".
std::string description_of(const FlagOutline& flag);

// One row of two columns, the right one wrapped.
std::string two_columns(std::string_view left, std::string_view right);

}  // namespace hum::cli
