#include "data/synthesis/sine.h"

#include <algorithm>
#include <cmath>

#include "data/synthesis/harmonics.h"
#include "data/synthesis/pitch_curve.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr double kControl_s = static_cast<double>(kControlSamples) / kSampleRate;
constexpr double kLevel = 0.3;   // of a note of amplitude 1, after its accent
constexpr double kAccent = 1.0;  // added at the onset: twice as loud
constexpr double kAccentDecay_s = 0.06;
constexpr double kFade_s = 0.006;  // in and out
// Notes that start together are a chord, not neighbours.
constexpr double kTogether_s = 0.03;
// A note that overlaps the next one by at most this is its neighbour; by more, it is another voice.
constexpr double kOverlap_s = 0.06;

// The end of the note's sine.
double sounding_end(const audio::Note& note, std::span<const audio::Note> notes) {
  double end_s = note.end_s;
  for (const auto& next : notes) {
    if (next.start_s <= note.start_s + kTogether_s) continue;
    const bool neighbour = next.start_s > note.end_s - kOverlap_s || next.pitch == note.pitch;
    if (neighbour) end_s = std::min(end_s, next.start_s - kSineGap_s);
  }
  return std::max(end_s, (note.start_s + note.end_s) / 2);
}

HarmonicVoice sine_voice(const audio::Note& note, double end_s) {
  const PitchCurve pitch(note);
  HarmonicVoice voice;
  voice.first_sample = sample_of(note.start_s);
  const auto points = static_cast<int64_t>(std::ceil((end_s - note.start_s) / kControl_s)) + 1;
  for (int64_t i = 0; i < points; ++i) {
    const double since_s = static_cast<double>(i) * kControl_s;
    const double left_s = end_s - note.start_s - since_s;
    const double fade = std::clamp(std::min(since_s, left_s) / kFade_s, 0.0, 1.0);
    const double accent = 1 + kAccent * std::exp(-since_s / kAccentDecay_s);
    voice.hz.push_back(static_cast<float>(audio::midi_to_hz(pitch.at(note.start_s + since_s))));
    voice.gain.push_back(static_cast<float>(kLevel * note.amplitude * accent * fade));
  }
  return voice;
}

}  // namespace

std::vector<float> render_sine(std::span<const audio::Note> notes, int64_t samples) {
  std::vector<float> out(samples);
  for (const auto& note : notes) {
    add_harmonics(sine_voice(note, sounding_end(note, notes)), {.max_harmonics = 1}, out);
  }
  return out;
}

}  // namespace hum::data
