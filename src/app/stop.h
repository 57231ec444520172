// Turns Ctrl-C and SIGTERM into a flag that long commands poll; a second Ctrl-C ends the process at
// once.
#pragma once

namespace hum::app {

void install_stop_handler();
// The stop signal that was received, or 0.
int stop_signal();
// Throws kFailure if one was received.
void require_no_stop();

}  // namespace hum::app
