#include "audio/limiter.h"

#include <algorithm>
#include <cmath>

namespace hum::audio {

LimiterGain::LimiterGain(int rate_hz, const LimiterOptions& options)
    : look_ahead_(std::max<int64_t>(1, std::llround(options.look_ahead_s * rate_hz))),
      ceiling_(std::pow(10, options.ceiling_db / 20)),
      release_(1 - std::exp(-1 / (options.release_s * rate_hz))) {}

// The smallest gain wanted within the look-ahead, let go slowly, then averaged over the look-ahead:
// when a peak comes out, all gains in the mean are at most what it wants.
double LimiterGain::step(double peak) {
  const double wanted = std::min(1.0, ceiling_ / std::max(1e-9, peak));
  while (!minima_.empty() && minima_.back().second >= wanted) minima_.pop_back();
  minima_.emplace_back(at_, wanted);
  if (minima_.front().first <= at_ - 2 * look_ahead_) minima_.pop_front();
  ++at_;
  held_ = std::min(minima_.front().second, held_ + release_ * (1 - held_));
  recent_.push_back(held_);
  recent_sum_ += held_;
  if (std::ssize(recent_) > look_ahead_) {
    recent_sum_ -= recent_.front();
    recent_.pop_front();
  }
  return recent_sum_ / static_cast<double>(recent_.size());
}

std::vector<float> limiter_gains(std::span<const float> peaks, int rate_hz,
                                 const LimiterOptions& options) {
  LimiterGain gain(rate_hz, options);
  std::vector<float> gains;
  gains.reserve(peaks.size());
  const int64_t frames = std::ssize(peaks), late = gain.look_ahead();
  for (int64_t i = 0; i < frames + late; ++i) {
    const double current = gain.step(i < frames ? peaks[static_cast<size_t>(i)] : 0);
    if (i >= late) gains.push_back(static_cast<float>(current));
  }
  return gains;
}

Limiter::Limiter(int rate_hz, const LimiterOptions& options) : gain_(rate_hz, options) {}

float Limiter::step(float sample) {
  const double gain = gain_.step(std::fabs(static_cast<double>(sample)));
  ++at_;
  delayed_.push_back(sample);
  if (std::ssize(delayed_) <= gain_.look_ahead()) return 0;
  const float out = delayed_.front();
  delayed_.pop_front();
  const auto limit = static_cast<float>(gain_.ceiling());  // sums round
  return std::clamp(static_cast<float>(out * gain), -limit, limit);
}

std::vector<float> Limiter::push(std::span<const float> samples) {
  std::vector<float> result;
  result.reserve(samples.size());
  for (const float sample : samples) {
    const bool is_filling = at_ < gain_.look_ahead();
    const float out = step(sample);
    if (!is_filling) result.push_back(out);
  }
  return result;
}

std::vector<float> Limiter::finish() {
  const auto wanted = static_cast<size_t>(std::min(at_, gain_.look_ahead()));
  std::vector<float> result;
  while (result.size() < wanted) {
    const bool is_filling = at_ < gain_.look_ahead();
    const float out = step(0);
    if (!is_filling) result.push_back(out);
  }
  return result;
}

}  // namespace hum::audio
