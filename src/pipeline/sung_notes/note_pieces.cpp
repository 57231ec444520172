#include "pipeline/sung_notes/note_pieces.h"

#include <algorithm>
#include <cmath>

#include "audio/bends.h"
#include "base/error.h"

namespace hum::pipeline {
namespace {

// Sets the bends of `result` from a function of time in semitones.
template <typename PitchAt>
void sample_bends(audio::Note& result, PitchAt pitch_at) {
  result.bends.clear();
  for (const double at_s : audio::bend_times(result)) {
    const double bend = audio::kBendsPerSemitone * (pitch_at(at_s) - result.pitch);
    result.bends.push_back(static_cast<int>(std::lround(bend)));
  }
}

}  // namespace

audio::Note note_between(const audio::Note& note, double start_s, double end_s) {
  HUM_CHECK(start_s < end_s, "note_between: {}..{}", start_s, end_s);
  audio::Note result = note;
  result.start_s = start_s;
  result.end_s = end_s;
  if (!note.bends.empty()) {
    sample_bends(result, [&](double at_s) { return audio::pitch_at(note, at_s); });
  }
  return result;
}

audio::Note cut_note(const audio::Note& note, double start_s, double end_s) {
  HUM_CHECK(start_s < end_s, "cut_note: {}..{}", start_s, end_s);
  if (start_s <= note.start_s && end_s >= note.end_s) return note;
  return note_between(note, std::max(start_s, note.start_s), std::min(end_s, note.end_s));
}

audio::Note join_notes(const audio::Note& first, const audio::Note& second) {
  HUM_CHECK(first.pitch == second.pitch && first.start_s <= second.start_s,
            "join_notes: pitches {} and {}", first.pitch, second.pitch);
  audio::Note result = first;
  result.end_s = std::max(first.end_s, second.end_s);
  const double first_s = first.end_s - first.start_s, second_s = second.end_s - second.start_s;
  result.amplitude =
      (first.amplitude * first_s + second.amplitude * second_s) / (first_s + second_s);
  if (first.bends.empty() && second.bends.empty()) return result;
  sample_bends(result, [&](double at_s) {
    if (at_s <= first.end_s) return audio::pitch_at(first, at_s);
    if (at_s >= second.start_s) return audio::pitch_at(second, at_s);
    const double share = (at_s - first.end_s) / (second.start_s - first.end_s);
    return (1 - share) * audio::pitch_at(first, first.end_s) +
           share * audio::pitch_at(second, second.start_s);
  });
  return result;
}

}  // namespace hum::pipeline
