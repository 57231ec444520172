#include "data/synthesis/reference_notes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "data/synthesis/augment.h"
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

using audio::Note;

// About 5 dB around the middle of the scale (level.h).
constexpr double kSoftest = 60, kLoudest = 104;

int median_pitch(std::span<const Note> notes) {
  std::vector<int> pitches;
  for (const Note& note : notes) pitches.push_back(note.pitch);
  const auto middle = pitches.begin() + std::ssize(pitches) / 2;
  std::ranges::nth_element(pitches, middle);
  return *middle;
}

}  // namespace

void validate(const ReferenceOptions& options) {
  const double same = options.same_register, range = options.low_to_high;
  if (same >= 0 && range >= 0 && same + range <= 1) return;
  fail(ExitCode::kConfig, fmt::format("items.reference: shares of {} and {}", same, range),
       "use shares from 0 to 1, together at most 1");
}

ReferenceKind draw_reference_kind(const ReferenceOptions& options, uint64_t seed, uint64_t index) {
  // From both ends, so that the shares do not move each other.
  const double draw = Rng(seed, "reference kind", index).uniform();
  if (draw < options.same_register) return ReferenceKind::kSameRegister;
  return draw >= 1 - options.low_to_high ? ReferenceKind::kLowToHigh : ReferenceKind::kMelody;
}

std::vector<Note> in_register_of(std::span<const Note> others, std::span<const Note> notes,
                                 const Preset& preset) {
  if (others.empty() || notes.empty()) return {notes.begin(), notes.end()};
  const int semitones = median_pitch(others) - median_pitch(notes);
  return shifted(notes, 0, fitting_transposition(notes, semitones, preset.low, preset.high));
}

std::vector<Note> low_to_high(const Preset& preset, double seconds, uint64_t seed, uint64_t index) {
  Rng rng(seed, "notes low to high", index);
  const double step_s = rng.uniform(0.33, 1), sounding_s = step_s * rng.uniform(0.6, 1);
  const auto count = static_cast<int64_t>(std::ceil(seconds / step_s));
  std::vector<Note> notes;
  for (int64_t i = 0; i < count; ++i) {
    const double start_s = step_s * static_cast<double>(i);
    const double place = (static_cast<double>(i) + rng.uniform()) / static_cast<double>(count);
    const int above = static_cast<int>(place * (preset.high - preset.low + 1));
    notes.push_back({.start_s = start_s,
                     .end_s = start_s + sounding_s,
                     .pitch = preset.low + above,
                     .amplitude = rng.uniform(kSoftest, kLoudest) / 127});
  }
  return notes;
}

}  // namespace hum::data
