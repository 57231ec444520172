// How the process ends.
#pragma once

namespace hum {

// Flushes the standard streams and ends the process without running destructors of static objects:
// a plugin's threads live as long as the process, and would use what those destroy. What main
// returns to in a program that opens a plugin.
[[noreturn]] void end_process(int exit_code);

}  // namespace hum
