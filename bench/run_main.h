// Shared by the main functions of the programs here.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace hum::bench {

// Passes `run` the arguments after the program's name, and ends the process with its result; an
// Error is printed as one line on stderr that starts with `name`, and sets the exit code.
[[noreturn]] void run_main(std::string_view name, int argc, char** argv,
                           const std::function<int(std::span<char* const> arguments)>& run);

}  // namespace hum::bench
