// Ctrl-C and SIGTERM as a flag that long commands poll; a second Ctrl-C ends the process at once.
#pragma once

namespace hum::app {

void install_stop_handler();
// The signal that asked to stop, or 0.
int stop_signal();

}  // namespace hum::app
