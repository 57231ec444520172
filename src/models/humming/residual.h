// Corrects latents by what the models miss of a reference whose notes are known. The models draft
// the reference's own notes; what its true latents have beyond that draft, averaged over each note,
// is the residual of that note. A frame of a melody gets the residuals of the notes that are
// nearest in pitch. Nothing is trained.
//
// F frames of the reference, T frames of a melody, M melody features, D latent size. The vectors
// may be others than latents: equaliser.h corrects levels of frequency bands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hum::models::humming {

// How residuals are averaged.
struct ResidualRule {
  // A note that is this far from the frame's pitch counts e times less.
  double pitch_scale_semitones = 3;
  // This far beyond the nearest note, which itself counts fully however far it is.
  bool from_nearest = false;
  // Shrinks averages as if this many more frames had a residual of zero.
  double shrink_frames = 10;
  // Attack, first part and rest of a note have separate residuals, as have release and silence.
  // Else: one of notes and one of rests.
  bool by_phase = true;
  // Also corrects frames between notes.
  bool corrects_rests = true;
  // A note's residual as it is so many semitones higher; null: the same. Silence has no pitch.
  std::vector<double> (*moved)(const std::vector<double>& residual, double semitones) = nullptr;
};

class Residual {
 public:
  // Shapes: truth and draft [F, D], melody [F, M]. is_used [F]: 0 leaves a frame out, as of a
  // chord, whose notes the melody does not name.
  Residual(std::span<const float> truth, std::span<const float> draft,
           std::span<const float> melody, std::span<const uint8_t> is_used,
           const ResidualRule& rule = {});

  // A residual as a table, and back. The residual of a table corrects exactly as the one that wrote
  // it. Shapes: [stretches, kTableColumns + D]: of each stretch of a note its phase (0: attack,
  // body, late, release, 4: silence), its mean pitch, its number of frames and the means of D.
  static constexpr size_t kTableColumns = 3;
  std::vector<float> table() const;
  // Absent if `rows` is no such table.
  static std::optional<Residual> of_table(std::span<const float> rows, size_t latent,
                                          const ResidualRule& rule = {});

  size_t latent() const { return latent_; }
  // Adds `share` of the correction to the latents of a melody. Shapes: latents [T, D], melody
  // [T, M].
  void add(std::span<float> latents, std::span<const float> melody, double share) const;

 private:
  enum class Phase { kAttack, kBody, kLate, kRelease, kSilence };
  // Consecutive frames of one note in one phase. After collect() all values are those of floats, so
  // that a table has them exactly.
  struct Stretch {
    Phase phase;
    double pitch;                  // mean
    double frames;                 // that are used
    std::vector<double> residual;  // mean, [D]
  };

  Residual(size_t latent, const ResidualRule& rule) : rule_(rule), latent_(latent) {}
  void collect(std::span<const float> error, std::span<const float> melody,
               std::span<const uint8_t> is_used);
  void round_to_floats();
  bool shares(Phase a, Phase b) const;
  std::vector<double> correction(Phase phase, double pitch) const;
  static Phase phase_of(std::span<const float> row);

  ResidualRule rule_;
  size_t latent_;
  std::vector<Stretch> stretches_;
};

}  // namespace hum::models::humming
