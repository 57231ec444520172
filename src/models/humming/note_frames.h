// The notes of a sound whose melody is known, frame by frame, and the levels of its frames.
//
// F frames of 441 samples at 22,050 Hz, M melody features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

// The weighted mean of a property of the notes of a sound, for a pitch. A note that is 6 semitones
// farther than the nearest one counts e times less. `weight_of`: beside others at the same
// distance. `zero_weight`: of a value of zero beside them. 0 if there are no notes.
template <class Note, class WeightOf, class ValueOf>
double mean_by_pitch(std::span<const Note> notes, double pitch, const WeightOf& weight_of,
                     const ValueOf& value_of, double zero_weight = 0) {
  constexpr double kScale_semitones = 6;
  const auto distance = [&](const Note& note) { return std::abs(note.pitch - pitch); };
  double nearest = std::numeric_limits<double>::infinity();
  for (const Note& note : notes) nearest = std::min<double>(nearest, distance(note));
  double sum = 0, weights = zero_weight;
  for (const Note& note : notes) {
    const double weight = weight_of(note) * std::exp((nearest - distance(note)) / kScale_semitones);
    sum += weight * value_of(note);
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

// The mean power of each frame in dB, not more than 80 dB below the largest. Shapes: [F 441] ->
// [F].
std::vector<float> frame_levels(std::span<const float> samples);

}  // namespace hum::models::humming
