// Ending the process.
#pragma once

namespace hum {

// Returns whether all output reached stdout; a full disk makes this false. A closed pipe (`| head`)
// counts as success.
bool flush_output();

// Flushes the standard streams and ends the process without running destructors of static objects:
// a plugin's threads live as long as the process and would use the destroyed objects. A program
// that opens a plugin calls this at the end of main.
[[noreturn]] void end_process(int exit_code);

}  // namespace hum
