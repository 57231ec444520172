// A peak limiter for streams, whose level is not known in advance.
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
// recover slowly after it. The output lags by one look-ahead.
class LimiterGain {
 public:
  LimiterGain(int rate_hz, const LimiterOptions& options);

  // Delay of the gains in frames.
  int64_t look_ahead() const { return look_ahead_; }
  double ceiling() const { return ceiling_; }
  // Takes the peak magnitude of a frame; returns the gain of the frame one look-ahead earlier.
  double step(double peak);

 private:
  int64_t look_ahead_;
  double ceiling_, release_;
  // (time, required gain) of recent frames, as a sliding minimum.
  std::deque<std::pair<int64_t, double>> minima_;
  std::deque<double> recent_;  // held minima of one look-ahead; their mean is the gain
  double recent_sum_ = 0, held_ = 1;
  int64_t at_ = 0;
};

// One gain per frame. Shapes: peaks, the largest magnitude in each frame, [frames] -> [frames].
std::vector<float> limiter_gains(std::span<const float> peaks, int rate_hz,
                                 const LimiterOptions& options = {});

// Channels are interleaved and share one gain. No output sample exceeds the ceiling. Sound below it
// is only delayed by the look-ahead; finish() returns the delayed end.
class Limiter {
 public:
  explicit Limiter(int rate_hz, int channels = 1, const LimiterOptions& options = {});

  std::vector<float> push(std::span<const float> samples);
  // The remaining samples; the total output is as long as the input.
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
