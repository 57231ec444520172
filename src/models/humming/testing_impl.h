// Melodies' features for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/humming/config.h"

namespace hum::models::humming {

inline void add_row(std::vector<float>& melody, float pitch, bool sounds, int64_t since_onset,
                    int64_t since_end) {
  std::vector<float> row(kAllMelodyFeatures);
  const auto count = [](int64_t frames) {
    return std::min(1.0F, static_cast<float>(frames) / kMelodyLongCountFrames);
  };
  row[kMelodyPitch] = (pitch - 64) / 32;
  row[kMelodySounding] = sounds ? 1 : 0;
  row[kMelodyLongSinceOnset] = count(since_onset);
  row[kMelodyLongSinceEnd] = count(since_end);
  melody.insert(melody.end(), row.begin(), row.end());
}

// Adds the frames of a note, and those of a rest after a note that had `length` frames.
inline void add_note_rows(std::vector<float>& melody, float pitch, int64_t length) {
  for (int64_t age = 0; age < length; ++age) add_row(melody, pitch, true, age, 0);
}
inline void add_rest_rows(std::vector<float>& melody, float pitch, int64_t length, int64_t frames) {
  for (int64_t t = 0; t < frames; ++t) add_row(melody, pitch, false, length + t, t + 1);
}

}  // namespace hum::models::humming
