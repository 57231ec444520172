#include "app/stop.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/error.h"

namespace hum::app {
namespace {

std::atomic<int> received = 0;
std::atomic<int> ending_at_once = 0;  // how many EndsAtOnce exist

void on_signal(int signal) {
  if (received.exchange(signal) != 0 || ending_at_once > 0) std::_Exit(128 + signal);
}

}  // namespace

void install_stop_handler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // an exceeded file size limit is a write error, with a message
}

int stop_signal() { return received; }

EndsAtOnce::EndsAtOnce() {
  ++ending_at_once;
  if (received != 0) std::_Exit(128 + received);
}

EndsAtOnce::~EndsAtOnce() { --ending_at_once; }

void require_no_stop() {
  if (received != 0) fail(ExitCode::kFailure, "stopped", "run the command again");
}

}  // namespace hum::app
