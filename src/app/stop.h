// Turns Ctrl-C and SIGTERM into a flag that long commands poll; a second Ctrl-C ends the process at
// once.
#pragma once

namespace hum::app {

void install_stop_handler();
// The stop signal that was received, or 0.
int stop_signal();
// Throws kFailure if one was received.
void require_no_stop();

// While one exists, a stop signal ends the process at once, with the exit code of a stopped
// command. For long work that leaves nothing to save. Ends the process if a signal came before.
class EndsAtOnce {
 public:
  EndsAtOnce();
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

}  // namespace hum::app
