#include "eval/metrics/pitch_accuracy.h"

#include <algorithm>
#include <cmath>

#include "audio/pitch.h"
#include "base/error.h"

namespace hum::eval {
namespace {

constexpr double kOctave_cents = 1200;
constexpr double kSilence = 1e-3;  // of the loudest frame's RMS

// The pitch of the notes at frames 0, frame_s, ..., with bends; the highest of notes that overlap;
// 0 in rests.
std::vector<double> pitch_of_notes(std::span<const audio::Note> notes, double frame_s,
                                   int64_t frames) {
  std::vector<double> result(static_cast<size_t>(frames));
  for (size_t t = 0; t < result.size(); ++t) {
    const double time_s = static_cast<double>(t) * frame_s;
    for (const audio::Note& note : notes) {
      if (time_s < note.start_s || time_s >= note.end_s) continue;
      result[t] = std::max(result[t], audio::midi_to_hz(pitch_at(note, time_s)));
    }
  }
  return result;
}

}  // namespace

PitchAccuracy pitch_accuracy(std::span<const double> reference_hz,
                             std::span<const double> estimate_hz, double tolerance_cents) {
  HUM_REQUIRE(reference_hz.size() == estimate_hz.size(), "pitch_accuracy: {} frames against {}",
              reference_hz.size(), estimate_hz.size());
  PitchAccuracy result;
  int64_t right = 0, right_chroma = 0;
  for (size_t t = 0; t < reference_hz.size(); ++t) {
    if (reference_hz[t] <= 0) continue;
    ++result.frames;
    if (estimate_hz[t] <= 0) continue;
    const double cents = kOctave_cents * std::abs(std::log2(reference_hz[t] / estimate_hz[t]));
    const double octaves = std::floor(cents / kOctave_cents + 0.5);
    right += cents < tolerance_cents ? 1 : 0;
    right_chroma += std::abs(cents - kOctave_cents * octaves) < tolerance_cents ? 1 : 0;
  }
  if (result.frames == 0) return result;
  result.raw_pitch = static_cast<double>(right) / static_cast<double>(result.frames);
  result.raw_chroma = static_cast<double>(right_chroma) / static_cast<double>(result.frames);
  return result;
}

PitchAccuracy pitch_accuracy(std::span<const float> samples, int rate_hz,
                             std::span<const audio::Note> notes) {
  const audio::PitchTrack track = audio::yin(samples, rate_hz);
  std::vector<double> heard_hz = track.hz;
  const double silence = track.rms.empty() ? 0 : kSilence * std::ranges::max(track.rms);
  for (size_t t = 0; t < heard_hz.size(); ++t) {
    if (track.rms[t] <= silence) heard_hz[t] = 0;
  }
  return pitch_accuracy(pitch_of_notes(notes, track.frame_s, std::ssize(heard_hz)), heard_hz);
}

}  // namespace hum::eval
