#include "eval/metrics/chroma.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hum::eval {
namespace {

constexpr std::array kShifts{0, -12, 12, -24, 24};  // 0 first: it wins ties

constexpr double kSilence = 1e-3;  // of the loudest frame's RMS

// Adds one frame: the shifts that bring `pitch` near a note that is judged at `time_s`.
struct Judgement {
  bool is_judged = false;
  std::array<bool, kShifts.size()> is_right{};
};

Judgement judge(double time_s, double pitch, std::span<const audio::Note> notes,
                const ChromaOptions& options) {
  Judgement result;
  for (const audio::Note& note : notes) {
    if (time_s < note.start_s + options.after_onset_s) continue;
    if (time_s > note.end_s - options.before_end_s) continue;
    result.is_judged = true;
    const double wanted = pitch_at(note, time_s);
    for (size_t i = 0; i < kShifts.size(); ++i) {
      const double cents = 100 * std::abs(pitch + kShifts[i] - wanted);
      result.is_right[i] = result.is_right[i] || cents <= options.tolerance_cents;
    }
  }
  return result;
}

}  // namespace

ChromaScore chroma_accuracy(std::span<const float> samples, int rate_hz,
                            std::span<const audio::Note> notes, const ChromaOptions& options) {
  const audio::PitchTrack track = audio::yin(samples, rate_hz, options.yin);
  ChromaScore score;
  const double silence = track.rms.empty() ? 0 : kSilence * std::ranges::max(track.rms);
  std::array<int64_t, kShifts.size()> right{};
  for (size_t t = 0; t < track.hz.size(); ++t) {
    const double time_s = static_cast<double>(t) * track.frame_s;
    const Judgement judgement = judge(time_s, audio::hz_to_midi(track.hz[t]), notes, options);
    score.frames += judgement.is_judged ? 1 : 0;
    if (track.rms[t] <= silence) continue;
    for (size_t i = 0; i < kShifts.size(); ++i) right[i] += judgement.is_right[i] ? 1 : 0;
  }
  if (score.frames == 0) return score;
  const auto best = std::ranges::max_element(right);
  score.octave_shift_semitones = kShifts[static_cast<size_t>(best - right.begin())];
  score.accuracy = static_cast<double>(*best) / static_cast<double>(score.frames);
  return score;
}

}  // namespace hum::eval
