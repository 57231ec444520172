// How notes go on dying away when the models have lost count of their age. Models of the first set
// of melody features read counts that end after a second (data/synthesis/features.h), so from there
// on they play every note at a steady level, however long it is. What is struck or plucked falls
// further.
//
// F frames of 441 samples at 22,050 Hz, M melody features.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hum::models::humming {

class LateDecay {
 public:
  // The age after which this class sets the level.
  static constexpr int64_t kFirstFrame = 60;

  // Of notes that keep their level.
  LateDecay() = default;
  // Of a sound that has single notes. A note dies away if it falls in its first half, too; others,
  // as those of a bow or a voice, keep their level. It falls as it does there, without beats. After
  // its end there it goes on as in its second half; after an early end by less, because decays slow
  // down. Shapes: levels_db [F], melody [F, M] with kAllMelodyFeatures. is_used [F]: 0 leaves a
  // frame out.
  LateDecay(std::span<const float> levels_db, std::span<const float> melody,
            std::span<const uint8_t> is_used);

  // 0 or less, by the notes nearest in pitch.
  double gain_db(double pitch, int64_t age_frames) const;
  // All notes keep their level.
  bool is_steady() const { return notes_.empty(); }

  // A decay as a table, and back. Shapes: [notes, kTableColumns]: of each note its pitch, its
  // number of frames, its fall after the last gain in dB per frame, and its gains in dB every
  // kStepFrames from kFirstFrame to the sixth second.
  static constexpr int64_t kStepFrames = 10, kSteps = 25, kTableColumns = 3 + kSteps;
  std::vector<float> table() const;
  // Absent if `rows` is no such table.
  static std::optional<LateDecay> of_table(std::span<const float> rows);

 private:
  struct Note {
    float pitch, frames;
    float fall_db;  // per frame; 0 or more
    std::vector<float> gains_db;
  };
  static std::optional<Note> note_of(std::span<const float> levels_db, double pitch);
  static double gain_of(const Note& note, int64_t age_frames);

  std::vector<Note> notes_;
};

}  // namespace hum::models::humming
