// What the main of each program here does.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace hum::bench {

// Gives `run` the arguments after the program's name, and ends the process with what it returns;
// an Error becomes one line on stderr that starts with `name`, and its exit code.
[[noreturn]] void run_main(std::string_view name, int argc, char** argv,
                           const std::function<int(std::span<char* const> arguments)>& run);

}  // namespace hum::bench
