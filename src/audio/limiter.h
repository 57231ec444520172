// A peak limiter for sound whose level is not known before it has been handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace hum::audio {

struct LimiterOptions {
  double ceiling_db = -2;  // sample peaks, not true peaks: leave 1 dB
  double look_ahead_s = 0.005;
  double release_s = 0.2;
};

// The gains that hold peaks at the ceiling: they fall within the look-ahead before a peak and
// recover slowly after it. Gains come out a look-ahead late.
class LimiterGain {
 public:
  LimiterGain(int rate_hz, const LimiterOptions& options);

  // Frames that a gain comes late.
  int64_t look_ahead() const { return look_ahead_; }
  double ceiling() const { return ceiling_; }
  // Takes the largest size in a frame, gives the gain of the frame a look-ahead ago.
  double step(double peak);

 private:
  int64_t look_ahead_;
  double ceiling_, release_;
  // Gains wanted by the samples within reach, smallest first kept (a sliding minimum).
  std::deque<std::pair<int64_t, double>> minima_;
  std::deque<double> recent_;  // minima of the last look-ahead, whose mean is the gain
  double recent_sum_ = 0, held_ = 1;
  int64_t at_ = 0;
};

// A gain a frame. Shapes: peaks, the largest size in each frame, [frames] -> [frames].
std::vector<float> limiter_gains(std::span<const float> peaks, int rate_hz,
                                 const LimiterOptions& options = {});

// Channels are interleaved and get one gain. No sample of the result passes the ceiling; below it
// nothing changes but a delay of the look-ahead, which finish() makes up for.
class Limiter {
 public:
  explicit Limiter(int rate_hz, int channels = 1, const LimiterOptions& options = {});

  std::vector<float> push(std::span<const float> samples);
  // The last samples; together as many come out as went in.
  std::vector<float> finish();

 private:
  // Takes a frame; adds the one that is ready, if any, to `result`.
  void step(std::span<const float> frame, std::vector<float>& result);

  LimiterGain gain_;
  size_t channels_;
  std::deque<float> delayed_;
  int64_t frames_ = 0;
};

}  // namespace hum::audio
