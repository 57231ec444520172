#include "audio/limiter.h"

#include <algorithm>
#include <cmath>

namespace hum::audio {

Limiter::Limiter(int rate_hz, double ceiling_db, double look_ahead_s, double release_s)
    : look_ahead_(std::max<int64_t>(1, std::llround(look_ahead_s * rate_hz))),
      ceiling_(std::pow(10, ceiling_db / 20)),
      release_(1 - std::exp(-1 / (release_s * rate_hz))) {}

// The smallest gain wanted within the look-ahead, let go slowly, then averaged over the look-ahead:
// when a peak comes out, all gains in the mean are at most what it wants.
float Limiter::step(float sample) {
  const double wanted =
      std::min(1.0, ceiling_ / std::max(1e-9, std::fabs(static_cast<double>(sample))));
  while (!minima_.empty() && minima_.back().second >= wanted) minima_.pop_back();
  minima_.emplace_back(at_, wanted);
  if (minima_.front().first <= at_ - 2 * look_ahead_) minima_.pop_front();
  ++at_;
  const double smallest = minima_.front().second;
  held_ = std::min(smallest, held_ + release_ * (1 - held_));
  recent_.push_back(held_);
  recent_sum_ += held_;
  if (static_cast<int64_t>(recent_.size()) > look_ahead_) {
    recent_sum_ -= recent_.front();
    recent_.pop_front();
  }
  delayed_.push_back(sample);
  if (static_cast<int64_t>(delayed_.size()) <= look_ahead_) return 0;
  const float out = delayed_.front();
  delayed_.pop_front();
  const double gain = recent_sum_ / static_cast<double>(recent_.size());
  const auto limit = static_cast<float>(ceiling_);  // sums round
  return std::clamp(static_cast<float>(out * gain), -limit, limit);
}

std::vector<float> Limiter::push(std::span<const float> samples) {
  std::vector<float> result;
  result.reserve(samples.size());
  for (const float sample : samples) {
    const bool is_filling = at_ < look_ahead_;
    const float out = step(sample);
    if (!is_filling) result.push_back(out);
  }
  return result;
}

std::vector<float> Limiter::finish() {
  const auto wanted = static_cast<size_t>(std::min(at_, look_ahead_));
  std::vector<float> result;
  while (result.size() < wanted) {
    const bool is_filling = at_ < look_ahead_;
    const float out = step(0);
    if (!is_filling) result.push_back(out);
  }
  return result;
}

}  // namespace hum::audio
