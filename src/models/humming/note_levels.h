// How much louder or quieter the notes of a reference are than hum plays them, by their age: what
// is plucked or struck dies away at its own rate.
//
// F frames of the reference, M melody features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hum::models::humming {

class NoteLevels {
 public:
  // Of no notes.
  NoteLevels() = default;
  // Shapes: truth_db and played_db [F], melody [F, M] with kAllMelodyFeatures. is_used [F]: 0
  // leaves a frame out.
  NoteLevels(std::span<const float> truth_db, std::span<const float> played_db,
             std::span<const float> melody, std::span<const uint8_t> is_used);

  // In dB, by the notes nearest in pitch; a note that has ended keeps its last difference. 0 if
  // there are no notes.
  double difference_db(double pitch, int64_t age_frames) const;

 private:
  struct Note {
    double pitch;
    std::vector<double> difference_db;  // by age
  };
  std::vector<Note> notes_;
};

}  // namespace hum::models::humming
