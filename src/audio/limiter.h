// A peak limiter for sound whose level is not known before it has been handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace hum::audio {

// One channel. No sample of the result passes the ceiling; below it nothing changes but a delay of
// the look-ahead, which finish() makes up for. The gain falls within the look-ahead, so peaks are
// turned down before they come, and recovers slowly. Sample peaks, not true peaks: leave 1 dB.
class Limiter {
 public:
  explicit Limiter(int rate_hz, double ceiling_db = -2, double look_ahead_s = 0.005,
                   double release_s = 0.2);

  std::vector<float> push(std::span<const float> samples);
  // The last samples; together as many come out as went in.
  std::vector<float> finish();

 private:
  float step(float sample);

  int64_t look_ahead_;
  double ceiling_, release_;
  std::deque<float> delayed_;
  // Gains wanted by the samples within reach, smallest first kept (a sliding minimum).
  std::deque<std::pair<int64_t, double>> minima_;
  std::deque<double> recent_;  // minima of the last look-ahead, whose mean is the gain
  double recent_sum_ = 0, held_ = 1;
  int64_t at_ = 0;
};

}  // namespace hum::audio
