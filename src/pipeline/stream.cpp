#include "pipeline/stream.h"

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {

namespace {

double start_of(std::span<const audio::Note> melody) {
  const auto first = std::ranges::min_element(melody, {}, &audio::Note::start_s);
  return first == melody.end() ? 0 : first->start_s;
}

// The part without leading silence, which must not set the level.
std::span<const float> sounding(std::span<const float> samples, int channels) {
  constexpr float kSilence = 0.01F;  // of the peak: 40 dB
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  const auto first = std::ranges::find_if(
      samples, [&](float sample) { return std::fabs(sample) > kSilence * peak; });
  const auto before = static_cast<size_t>(first - samples.begin());
  return samples.subspan(before / static_cast<size_t>(channels) * static_cast<size_t>(channels));
}

// True if there is too little sound to measure its level, because a first note has just begun.
bool is_attack(std::span<const float> samples, int channels) {
  constexpr double kEnough_s = 0.4;  // a block of EBU R128
  const auto length = std::ssize(sounding(samples, channels));
  return length > 0 && length < data::sample_of(kEnough_s) * channels;
}

}  // namespace

StreamFinisher::StreamFinisher(std::span<const audio::Note> melody, int rate_hz, SampleSink sink,
                               int channels)
    : melody_start_s_(start_of(melody)),
      melody_end_s_(end_of(melody)),
      channels_(channels),
      sink_(std::move(sink)),
      resampler_(data::kSampleRate, rate_hz, channels),
      limiter_(rate_hz, channels) {}

void StreamFinisher::push(std::span<const float> samples) {
  require_finite(samples);
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  // Keeps back the samples that may be faded out.
  const auto certain = static_cast<size_t>(data::sample_of(melody_end_s_) * channels_);
  const size_t end = std::min(samples_.size(), std::max(certain, sent_));
  const auto part = std::span(samples_).subspan(sent_, end - sent_);
  if (!gain_ && is_attack(of_melody(part), channels_)) return;
  send(part);
  sent_ = end;
}

void StreamFinisher::finish() {
  const int64_t end = end_of_release(samples_, melody_end_s_, channels_);
  samples_.resize(static_cast<size_t>(end * channels_));
  fade_end(samples_, channels_);
  send(std::span(samples_).subspan(sent_));
  sent_ = samples_.size();
  sink_(limiter_.push(resampler_.finish()));
  sink_(limiter_.finish());
}

std::span<const float> StreamFinisher::of_melody(std::span<const float> part) const {
  const auto begin = static_cast<size_t>(data::sample_of(melody_start_s_) * channels_);
  return part.subspan(std::min(part.size(), begin - std::min(begin, sent_)));
}

void StreamFinisher::send(std::span<const float> samples) {
  if (samples.empty()) return;
  if (!gain_) {
    const double lufs = audio::integrated_lufs(sounding(of_melody(samples), channels_),
                                               data::kSampleRate, channels_);
    const double gain_db = audio::LoudnessTarget{}.target_lufs - lufs;
    if (std::isfinite(lufs)) gain_ = static_cast<float>(audio::from_db(gain_db));
  }
  std::vector<float> loud(samples.begin(), samples.end());
  for (float& sample : loud) sample *= gain_.value_or(1);
  sink_(limiter_.push(resampler_.push(loud)));
}

}  // namespace hum::pipeline
