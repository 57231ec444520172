// The notes of a sound whose melody is known, frame by frame, and the levels of its frames.
//
// F frames of 441 samples at 22,050 Hz, M melody features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hum::models::humming {

// Frames of one note from its onset on. That is heard up to two frames early or late, so the attack
// is one; as uncertain is the end.
struct NoteFrames {
  static constexpr int64_t kAttack = 5, kUncertainEnd = 3;

  size_t first = 0, count = 0;
  double pitch = 0;  // mean
};

// The notes whose first frame is used, each as far as its frames are. Shapes: melody [F, M] with
// kAllMelodyFeatures; is_used [F]: 0 leaves a frame out.
std::vector<NoteFrames> notes_in(std::span<const float> melody, std::span<const uint8_t> is_used);

// The mean power of each frame in dB, not more than 80 dB below the largest. Shapes: [F 441] ->
// [F].
std::vector<float> frame_levels(std::span<const float> samples);

}  // namespace hum::models::humming
