// How the process ends.
#pragma once

namespace hum {

// Whether all that was printed on stdout arrived, as on a full disk it does not. A reader that went
// away (`| head`) had all it wanted.
bool flush_output();

// Flushes the standard streams and ends the process without running destructors of static objects:
// a plugin's threads live as long as the process, and would use what those destroy. What main
// returns to in a program that opens a plugin.
[[noreturn]] void end_process(int exit_code);

}  // namespace hum
