// Keeps worker processes running: starts them, restarts those that die, stops them in the end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hum::serve {

struct SupervisorOptions {
  std::vector<std::string> command;  // of one worker: program and arguments
  int workers = 1;
  std::chrono::milliseconds first_backoff{250}, longest_backoff{5'000};
  // A worker that lived this long is not restarted any slower.
  std::chrono::milliseconds well_after{5'000};
};

// The workers die with this process, even if it is killed. They do not share its process group, so
// that Ctrl-C reaches only this process, which then drains them.
class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options);
  // Kills what still runs.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Asks the workers to end (SIGTERM) and starts no new ones.
  void begin_drain();
  // Waits for them at most this long; then kills them. False if some had to be killed.
  bool finish_drain(std::chrono::milliseconds at_most);

 private:
  struct Child;

  void run(const std::stop_token& stop);
  void start(Child& child);
  // Whether the child runs. Notes how it ended.
  bool poll(Child& child);

  SupervisorOptions options_;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace hum::serve
