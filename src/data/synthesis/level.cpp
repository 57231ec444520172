#include "data/synthesis/level.h"

#include <algorithm>
#include <cmath>

#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

double mean_square(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double limited(double velocity) { return std::clamp(velocity, kVelocityLow, kVelocityHigh); }

}  // namespace

std::vector<audio::Note> velocity_from_rms(std::span<const float> samples,
                                           std::span<const audio::Note> notes) {
  std::vector<audio::Note> result(notes.begin(), notes.end());
  if (result.empty()) return result;
  const auto size = static_cast<int64_t>(samples.size());
  std::vector<double> levels_db;
  for (const auto& note : result) {
    const int64_t from = std::clamp<int64_t>(sample_of(note.start_s), 0, size);
    const int64_t to = std::clamp<int64_t>(sample_of(note.end_s), from, size);
    levels_db.push_back(10 * std::log10(mean_square(samples.subspan(from, to - from)) + 1e-12));
  }
  const double middle_db = median(levels_db);
  for (size_t i = 0; i < result.size(); ++i) {
    const double velocity = kVelocityMiddle + kVelocityPerDb * (levels_db[i] - middle_db);
    result[i].amplitude = limited(velocity) / 127;
  }
  return result;
}

void centre_velocities(std::span<audio::Note> notes) {
  if (notes.empty()) return;
  std::vector<double> velocities;
  for (const auto& note : notes) velocities.push_back(note.amplitude * 127);
  const double shift = kVelocityMiddle - median(velocities);
  for (auto& note : notes) note.amplitude = limited(note.amplitude * 127 + shift) / 127;
}

double active_rms(std::span<const float> samples, int channels) {
  const auto frame_size = static_cast<size_t>(kFrameSamples) * static_cast<size_t>(channels);
  std::vector<double> frames;
  for (size_t at = 0; at < samples.size(); at += frame_size) {
    frames.push_back(mean_square(samples.subspan(at, std::min(frame_size, samples.size() - at))));
  }
  if (frames.empty()) return 0;
  const double floor = *std::ranges::max_element(frames) * 1e-3;
  double sum = 0;
  int64_t count = 0;
  for (const double frame : frames) {
    if (frame < floor) continue;
    sum += frame;
    ++count;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double level_gain(std::span<const float> samples, int channels) {
  const double rms = active_rms(samples, channels);
  if (rms < 1e-7) return 1;
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  return std::min(kTargetRms / rms, kPeakLimit / peak);
}

double normalise_level(std::span<float> samples, int channels) {
  const double gain = level_gain(samples, channels);
  for (float& sample : samples) sample *= static_cast<float>(gain);
  return gain;
}

std::vector<float> levelled(std::vector<float> samples) {
  normalise_level(samples);
  return samples;
}

}  // namespace hum::data
