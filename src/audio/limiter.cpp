#include "audio/limiter.h"

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"

namespace hum::audio {

LimiterGain::LimiterGain(int rate_hz, const LimiterOptions& options)
    : look_ahead_(std::max<int64_t>(1, std::llround(options.look_ahead_s * rate_hz))),
      ceiling_(from_db(options.ceiling_db)),
      release_(1 - std::exp(-1 / (options.release_s * rate_hz))) {}

// The smallest gain required over the last two look-aheads, released slowly, then averaged over one
// look-ahead: when a peak comes out, every gain in the mean is at most the one that it requires.
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

Limiter::Limiter(int rate_hz, int channels, const LimiterOptions& options)
    : gain_(rate_hz, options), channels_(static_cast<size_t>(channels)) {}

void Limiter::step(std::span<const float> frame, std::vector<float>& result) {
  double peak = 0;
  for (const float sample : frame) peak = std::max(peak, std::fabs(static_cast<double>(sample)));
  const double gain = gain_.step(peak);
  ++frames_;
  delayed_.insert(delayed_.end(), frame.begin(), frame.end());
  if (delayed_.size() <= static_cast<size_t>(gain_.look_ahead()) * channels_) return;
  const auto limit = static_cast<float>(gain_.ceiling());  // against rounding errors
  for (size_t channel = 0; channel < channels_; ++channel) {
    result.push_back(std::clamp(static_cast<float>(delayed_.front() * gain), -limit, limit));
    delayed_.pop_front();
  }
}

std::vector<float> Limiter::push(std::span<const float> samples) {
  std::vector<float> result;
  result.reserve(samples.size());
  for (size_t at = 0; at < samples.size(); at += channels_) {
    step(samples.subspan(at, channels_), result);
  }
  return result;
}

std::vector<float> Limiter::finish() {
  const auto wanted = static_cast<size_t>(std::min(frames_, gain_.look_ahead())) * channels_;
  const std::vector<float> silence(channels_);
  std::vector<float> result;
  while (result.size() < wanted) step(silence, result);
  return result;
}

}  // namespace hum::audio
