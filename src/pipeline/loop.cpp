#include "pipeline/loop.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::pipeline {
namespace {

constexpr double kRounding = 1e-9;  // of turns

}  // namespace

Loop loop_of(std::span<const audio::Note> notes, const Tempo& tempo, int64_t beats_per_bar) {
  HUM_REQUIRE(beats_per_bar > 0, "loop_of: {} beats per bar", beats_per_bar);
  double end_s = 0;
  for (const auto& note : notes) end_s = std::max(end_s, note.end_s);
  const double bar_s = tempo.beat_s() * static_cast<double>(beats_per_bar);
  const double bars = std::ceil((end_s - tempo.beat_s() / 2 - tempo.first_beat_s) / bar_s);
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(bars));
  return {tempo.first_beat_s, static_cast<double>(count) * bar_s, count};
}

std::vector<float> wrap(std::span<const float> samples, int rate_hz, const Loop& loop,
                        int channels) {
  const int64_t length = std::llround(loop.length_s * rate_hz);
  const int64_t start = std::llround(loop.start_s * rate_hz);
  HUM_REQUIRE(length > 0, "wrap: a loop of {} s", loop.length_s);
  std::vector<float> result(static_cast<size_t>(length * channels));
  for (int64_t i = 0; i < std::ssize(samples); ++i) {
    const int64_t at = ((i / channels - start) % length + length) % length;
    result[static_cast<size_t>(at * channels + i % channels)] += samples[static_cast<size_t>(i)];
  }
  return result;
}

std::vector<audio::Note> wrap_notes(std::span<const audio::Note> notes, const Loop& loop) {
  std::vector<audio::Note> result(notes.begin(), notes.end());
  for (auto& note : result) {
    const double from_start_s = note.start_s - loop.start_s;
    // A rounding error before the start is not the end of the turn before.
    const double turns = std::floor(from_start_s / loop.length_s + kRounding);
    const double start_s = std::max(0.0, from_start_s - loop.length_s * turns);
    note.end_s += start_s - note.start_s;
    note.start_s = start_s;
  }
  std::ranges::stable_sort(result, {}, &audio::Note::start_s);
  return result;
}

}  // namespace hum::pipeline
