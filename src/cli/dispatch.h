// Finds the command that the arguments name, parses its flags and runs it.
#pragma once

#include <string>
#include <vector>

namespace hum::cli {

// arguments: without the program's name. Returns the exit code; help and usage errors are printed.
int dispatch(std::vector<std::string> arguments);

}  // namespace hum::cli
