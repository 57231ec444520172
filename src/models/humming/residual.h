// Corrects latents by what the models miss of a reference whose notes are known. The models draft
// the reference's own notes; what its true latents have beyond that draft, averaged over each note,
// is the residual of that note. A frame of a melody gets the residuals of the notes that are
// nearest in pitch. Nothing is trained.
//
// F frames of the reference, T frames of a melody, D latent size, M melody features.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hum::models::humming {

// How residuals are averaged. The constants are chosen on clips that no bar uses (bench/
// sound_residual.cpp compares them).
struct ResidualRule {
  // A note that is this far from the frame's pitch counts e times less.
  double pitch_scale_semitones = 3;
  // Notes farther away do not count.
  double reach_semitones = 128;
  // Shrinks averages as if this many more frames had a residual of the average over all notes, or
  // of zero.
  double shrink_frames = 25;
  // Shrink to the average over all notes, which itself shrinks to zero; else to zero.
  bool is_shared = false;
  // Of that average, dims on which the notes disagree shrink further.
  bool needs_agreement = false;
  // Attack, first part and rest of a note have separate residuals, as have release and silence.
  bool by_phase = false;
  // Also corrects frames between notes.
  bool corrects_rests = true;
  // The correction grows over this many frames after each onset.
  int64_t onset_frames = 0;
  // Scales the correction by how well the residual of each note follows from notes of other
  // pitches.
  bool is_cross_validated = false;
};

class Residual {
 public:
  // Shapes: truth and draft [F, D], melody [F, M]. is_used [F]: 0 leaves a frame out, as of a
  // chord, whose notes the melody does not name.
  Residual(std::span<const float> truth, std::span<const float> draft,
           std::span<const float> melody, std::span<const uint8_t> is_used,
           const ResidualRule& rule = {});

  // Adds `share` of the correction to the latents of a melody. Shapes: latents [T, D], melody
  // [T, M].
  void add(std::span<float> latents, std::span<const float> melody, double share) const;

  // The factor of ResidualRule::is_cross_validated, 0..1; 1 without it.
  double reliability() const { return reliability_; }

 private:
  enum class Phase { kAttack, kBody, kLate, kRelease, kSilence };
  // Consecutive frames of one note in one phase.
  struct Stretch {
    Phase phase;
    double pitch;                  // mean
    double frames;                 // that are used
    std::vector<double> residual;  // mean, [D]
  };

  void collect(std::span<const float> error, std::span<const float> melody,
               std::span<const uint8_t> is_used);
  bool shares(Phase a, Phase b) const;
  std::vector<double> average(Phase phase, std::optional<double> without_pitch) const;
  std::vector<double> correction(Phase phase, double pitch,
                                 std::optional<double> without_pitch) const;
  double cross_validated() const;
  static Phase phase_of(std::span<const float> row);

  ResidualRule rule_;
  size_t latent_;
  std::vector<Stretch> stretches_;
  double reliability_ = 1;
};

}  // namespace hum::models::humming
