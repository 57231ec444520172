// How long the stages of a job take, learned from the jobs before it.
#pragma once

#include <mutex>
#include <string_view>

namespace hum::serve {

// Seconds of work per second of sound. Thread-safe.
class StageRates {
 public:
  struct Rates {
    double separate = 0.5, hear = 0.05, play = 0.1, play_lm = 0.3, write = 0.03;
  };
  Rates now() const;
  // A stage took this long for so much sound. "play_lm" counts as another stage than "play".
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

  // Seconds of sound in a job: of the recording, or to be made (all takes).
  struct Sound {
    double heard_s = 0, played_s = 0;
    bool has_lm = false;  // the option `lm`
    double separated_s = 0;
  };
  void begin(const Sound& sound) { sound_ = sound; }

  struct Position {
    double progress;  // of the whole job, 0..1
    double seconds_left;
  };
  // `done`: share of the stage; `elapsed_s`: since it began.
  Position at(std::string_view stage, double done, double elapsed_s) const;
  // The stage took this long.
  void learn(std::string_view stage, double seconds);

 private:
  // Share of the job at which its separation ends; 0 without one.
  double separate_to() const;

  StageRates& rates_;
  Sound sound_;
};

}  // namespace hum::serve
