// How well hums with known notes were read, or what was made from them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/harness/hum_set.h"

namespace hum::eval {

struct HumScore {
  double f1 = 0, precision = 0, recall = 0;  // means over hums
  // Median distance of the onsets of notes that were matched, in all hums together: within 50 ms,
  // and within 150 ms, where late ones cannot hide. Absent when nothing was matched.
  std::optional<double> onset_s, wide_onset_s;
};

inline constexpr double kWideOnset_s = 0.15;

// `heard[i]`: the notes that were heard in hum i, 50 ms and 50 cents. One shift of all notes of a
// hum is forgiven, by octaves and by a semitone either way: a hum 40 cents off may be written a
// semitone beside, as long as it is so throughout.
// Throws: kFailure when there are not as many readings as hums, or none.
HumScore score_hums(std::span<const KnownHum> hums,
                    std::span<const std::vector<audio::Note>> heard);

}  // namespace hum::eval
