#include "data/synthesis/excitation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/rng.h"
#include "data/synthesis/harmonics.h"
#include "data/synthesis/pitch_curve.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr double kControl_s = static_cast<double>(kControlSamples) / kSampleRate;

// 1 up to the note's end, then down to 0 over the tail.
double tail_gain(double past_end_s, double tail_s) {
  if (past_end_s <= 0) return 1;
  if (past_end_s >= tail_s) return 0;
  const double share = past_end_s / tail_s;
  if (tail_s <= kExcitationTail_s) return (1 + std::cos(std::numbers::pi * share)) / 2;
  const double end = std::pow(10, -kExcitationDecay_db / 20);
  return (std::pow(end, share) - end) / (1 - end);
}

// 1 up to the next onset, then down to 0.
double damping_gain(double past_onset_s) { return tail_gain(past_onset_s, kDamping_s); }

std::vector<double> sorted_onsets(std::span<const audio::Note> notes) {
  std::vector<double> onsets;
  for (const auto& note : notes) onsets.push_back(note.start_s);
  std::ranges::sort(onsets);
  return onsets;
}

// Infinity if no note follows.
double next_onset(const std::vector<double>& onsets, const audio::Note& note) {
  const double earliest_s = std::max(note.end_s - kLegato_s, note.start_s + kDamping_s);
  const auto next = std::ranges::lower_bound(onsets, earliest_s);
  return next == onsets.end() ? std::numeric_limits<double>::infinity() : *next;
}

// With its tail, which the next note may damp.
HarmonicVoice excitation_voice(const audio::Note& note, double tail_s, double damped_from_s) {
  const PitchCurve pitch(note);
  HarmonicVoice voice;
  voice.first_sample = sample_of(note.start_s);
  const double length_s = std::min(note.end_s + tail_s, damped_from_s + kDamping_s) - note.start_s;
  const auto points = static_cast<int64_t>(std::ceil(length_s / kControl_s)) + 1;
  for (int64_t i = 0; i < points; ++i) {
    const double time_s = note.start_s + static_cast<double>(i) * kControl_s;
    // The first point is silent: the note fades in over one control step (3 ms) and does not click.
    const double gain =
        i == 0 ? 0 : tail_gain(time_s - note.end_s, tail_s) * damping_gain(time_s - damped_from_s);
    voice.hz.push_back(static_cast<float>(audio::midi_to_hz(pitch.at(time_s))));
    voice.gain.push_back(static_cast<float>(kExcitationLevel * gain));
  }
  return voice;
}

}  // namespace

std::vector<float> render_excitation(std::span<const audio::Note> notes, int64_t samples,
                                     double tail_s) {
  std::vector<float> out(samples);
  render_excitation(notes, out, tail_s);
  return out;
}

void render_excitation(std::span<const audio::Note> notes, std::span<float> out, double tail_s) {
  std::ranges::fill(out, 0.0F);
  const double window_s = static_cast<double>(out.size()) / kSampleRate;
  const auto onsets = sorted_onsets(notes);
  for (const auto& note : notes) {
    if (note.start_s >= window_s || note.end_s + tail_s <= 0) continue;
    add_harmonics(excitation_voice(note, tail_s, next_onset(onsets, note)), {.exponent = 0.5}, out);
  }
}

void render_noise(uint64_t seed, uint64_t index, std::span<float> out) {
  Rng rng(seed, "noise", index);
  const auto scale = static_cast<float>(2 * std::sqrt(3.0) * 0x1p-24);
  for (float& sample : out) {
    const auto word = static_cast<int32_t>(rng.bits() >> 8) - (1 << 23);
    sample = scale * static_cast<float>(word);
  }
}

}  // namespace hum::data
