// Scores transcriptions of hums with known notes, or of sounds made from them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/harness/hum_set.h"

namespace hum::eval {

struct HumScore {
  double f1 = 0, precision = 0, recall = 0;  // means over hums
  // Median onset distance of the matched notes of all hums: with matches within 50 ms, and within
  // 150 ms, which includes late onsets. Absent when nothing matched.
  std::optional<double> onset_s, wide_onset_s;
};

inline constexpr double kWideOnset_s = 0.15;

// `heard[i]`: the notes that were heard in hum i; tolerances are 50 ms and 50 cents. Allows one
// shift of all notes of a hum, by octaves and by a semitone either way, because a hum that is 40
// cents off may consistently be written a semitone off.
// Throws: kFailure when there are no hums, or not as many readings as hums.
HumScore score_hums(std::span<const KnownHum> hums,
                    std::span<const std::vector<audio::Note>> heard);

}  // namespace hum::eval
