#include "models/ear/notes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "audio/bends.h"
#include "models/ear/grid.h"

namespace hum::models::ear {
namespace {

constexpr double kFrame_s = static_cast<double>(kHop) / static_cast<double>(kSampleRateHz);
// Notes of a slur touch. Their end and onset are found separately, up to a frame apart.
constexpr double kTouching_s = 1.5 * kFrame_s;
constexpr float kVoiced = 0.5F;
// The pitch of a frame lies at most this far from the note's, in bins: 2.5 semitones.
constexpr double kReach = 2.5 * kPitchesPerSemitone;

// The frames of a note, [first, last).
struct FrameRange {
  int64_t first, last;
};

FrameRange frames_of(const HeardNote& note, int64_t size) {
  const auto first = std::clamp<int64_t>(std::llround(note.start_s / kFrame_s), 0, size - 1);
  return {first, std::clamp<int64_t>(std::llround(note.end_s / kFrame_s), first + 1, size)};
}

// The mean pitch of the voiced frames around a time, as a bin; absent if none is voiced.
std::optional<double> pitch_around(const Frames& frames, FrameRange range, double at_s,
                                   double around) {
  const auto here =
      std::clamp<int64_t>(std::llround(at_s / kFrame_s - 0.5), range.first, range.last - 1);
  double sum = 0;
  int count = 0;
  for (int64_t t = std::max(range.first, here - 1); t < std::min(range.last, here + 2); ++t) {
    if (frames.voiced[static_cast<size_t>(t)] < kVoiced) continue;
    sum += peak_bin(frames.f0.row(t), around, kReach);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::vector<int> bends_of(const Frames& frames, const HeardNote& heard, const audio::Note& note) {
  const FrameRange range = frames_of(heard, frames.size());
  const double sung_bin = pitch_bin(audio::hz_to_midi(heard.hz));
  const double written_bin = pitch_bin(heard.pitch + heard.tuning_cents / 100);
  std::vector<double> thirds;
  double before = 0;  // where the voice pauses, its pitch stays
  for (const double at_s : audio::bend_times(note)) {
    if (const auto bin = pitch_around(frames, range, at_s, sung_bin)) {
      before = audio::kBendsPerSemitone * (*bin - written_bin) / kPitchesPerSemitone;
    }
    thirds.push_back(before);
  }
  return audio::sung_bends(thirds);
}

}  // namespace

std::vector<audio::Note> played_notes(const Frames& frames, std::span<const HeardNote> heard) {
  std::vector<audio::Note> notes;
  for (size_t i = 0; i < heard.size(); ++i) {
    const HeardNote& one = heard[i];
    const bool is_slur = i + 1 < heard.size() && heard[i + 1].start_s - one.end_s < kTouching_s;
    audio::Note note{.start_s = one.start_s,
                     .end_s = is_slur ? heard[i + 1].start_s : one.end_s,
                     .pitch = one.pitch,
                     .hz = one.hz,
                     .confidence = one.confidence};
    note.bends = bends_of(frames, one, note);
    notes.push_back(std::move(note));
  }
  return notes;
}

double mean_tuning_cents(std::span<const HeardNote> heard) {
  double sum = 0, seconds = 0;
  for (const HeardNote& note : heard) {
    sum += note.tuning_cents * (note.end_s - note.start_s);
    seconds += note.end_s - note.start_s;
  }
  return seconds > 0 ? sum / seconds : 0;
}

}  // namespace hum::models::ear
