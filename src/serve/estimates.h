// How long the stages of a job take, learned from the jobs before it.
#pragma once

#include <string_view>

namespace hum::serve {

class Estimates {
 public:
  // Starts a job with this much sound: of the recording, or to be made (all takes).
  void begin(double heard_s, double played_s);

  struct Position {
    double progress;  // of the whole job, 0..1
    double seconds_left;
  };
  // `done`: share of the stage; `elapsed_s`: since it began.
  Position at(std::string_view stage, double done, double elapsed_s) const;
  // The stage took this long.
  void learn(std::string_view stage, double seconds);

 private:
  struct Rate {
    double per_second;  // seconds of work per second of sound
    void learn(double seconds, double sound_s);
  };
  double heard_s_ = 0, played_s_ = 0;
  Rate hear_{0.05}, play_{0.3}, write_{0.03};
};

}  // namespace hum::serve
