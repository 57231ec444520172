// Finds the command that the arguments name, parses its flags and runs it.
#pragma once

#include <string>
#include <vector>

namespace hum::cli {

// Prints help, or runs the command and returns its exit code. `arguments`: without the program's
// name. Throws: kUsage for arguments that do not parse; what the command throws.
int dispatch(const std::vector<std::string>& arguments);

}  // namespace hum::cli
