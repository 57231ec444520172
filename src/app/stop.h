// Turns Ctrl-C and SIGTERM into a flag that long commands poll; a second Ctrl-C ends the process at
// once.
#pragma once

namespace hum::app {

void install_stop_handler();
// The stop signal that was received, or 0.
int stop_signal();

}  // namespace hum::app
