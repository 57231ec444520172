// How long the stages of a job take, learned from the jobs before it.
#pragma once

#include <mutex>
#include <string_view>

namespace hum::serve {

// Seconds of work per second of sound. Thread-safe.
class StageRates {
 public:
  struct Rates {
    double hear = 0.05, play = 0.3, play_fast = 0.3, write = 0.03;
  };
  Rates now() const;
  // A stage took this long for so much sound. "play_fast" counts as another stage than "play".
  void learn(std::string_view stage, double seconds, double sound_s);

 private:
  mutable std::mutex mutex_;
  Rates rates_;
};

// Of one job.
class Estimates {
 public:
  // `rates` must outlive this object.
  explicit Estimates(StageRates& rates) : rates_(rates) {}

  // Starts a job with this much sound: of the recording, or to be made (all takes). `is_fast`: the
  // option `fast`.
  void begin(double heard_s, double played_s, bool is_fast = false);

  struct Position {
    double progress;  // of the whole job, 0..1
    double seconds_left;
  };
  // `done`: share of the stage; `elapsed_s`: since it began.
  Position at(std::string_view stage, double done, double elapsed_s) const;
  // The stage took this long.
  void learn(std::string_view stage, double seconds);

 private:
  StageRates& rates_;
  double heard_s_ = 0, played_s_ = 0;
  bool is_fast_ = false;
};

}  // namespace hum::serve
