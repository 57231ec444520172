#include "data/synthesis/excitation.h"

#include <algorithm>
#include <cmath>
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

HarmonicVoice excitation_voice(const audio::Note& note, double tail_s) {
  const PitchCurve pitch(note);
  HarmonicVoice voice;
  voice.first_sample = sample_of(note.start_s);
  const double length_s = note.end_s - note.start_s + tail_s;
  const auto points = static_cast<int64_t>(std::ceil(length_s / kControl_s)) + 1;
  for (int64_t i = 0; i < points; ++i) {
    const double time_s = note.start_s + static_cast<double>(i) * kControl_s;
    // The first point is silent: the note fades in over one control step (3 ms) and does not click.
    const double gain = i == 0 ? 0 : kExcitationLevel * tail_gain(time_s - note.end_s, tail_s);
    voice.hz.push_back(static_cast<float>(audio::midi_to_hz(pitch.at(time_s))));
    voice.gain.push_back(static_cast<float>(gain));
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
  for (const auto& note : notes) {
    if (note.start_s >= window_s || note.end_s + tail_s <= 0) continue;
    add_harmonics(excitation_voice(note, tail_s), {.exponent = 0.5}, out);
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
