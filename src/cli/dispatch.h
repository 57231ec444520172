// Finds the command that the arguments name, parses its flags and runs it.
#pragma once

#include <string>
#include <vector>

namespace hum::cli {

// Prints help and usage errors. arguments: without the program's name. Returns the exit code.
int dispatch(std::vector<std::string> arguments);

}  // namespace hum::cli
