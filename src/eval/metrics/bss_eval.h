// BSSEval version 4 of separated stems, which museval computes.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/buffer.h"

namespace hum::eval {

// Of one stem, in dB, a number per frame; infinite if there is nothing to divide by. NaN in frames
// in which any reference or estimate is silent, and in all frames if the stem's own is silent in
// the whole song.
struct BssScores {
  std::vector<double> sdr;  // the stem against the whole error
  std::vector<double> isr;  // against what filters of 512 taps turned it into (spatial error)
  std::vector<double> sir;  // against what filters let in of other stems (interference)
  std::vector<double> sar;  // against the rest (artifacts)
};

// Judges estimates of the same references. The filters are those of the whole song.
// Differs from museval in two cases. museval refuses a song with a silent stem: here the others are
// judged without it. And where delayed channels depend on each other, the filters are the smallest
// of those that fit; museval's contain rounding errors, which its frames sometimes show.
// Needs 8 (512 S C)^2 bytes of memory for S stems of C channels.
// Source: museval 0.4.1, metrics.bss_eval; Vincent et al. 2007, "First stereo audio source
// separation evaluation campaign"; Stoeter et al. 2018, "The 2018 signal separation evaluation
// campaign".
class BssEval {
 public:
  // The references must outlive this object. Throws: kFailure when their sizes or channel counts
  // differ, or a frame has no samples.
  BssEval(std::span<const audio::AudioBuffer> references, int64_t frame_samples, int threads);

  // Shapes: one estimate per reference -> one BssScores each. A song shorter than a frame is one
  // frame; what follows the last whole frame is not judged. Throws: kFailure when sizes differ.
  std::vector<BssScores> score(std::span<const audio::AudioBuffer> estimates) const;

  int64_t frames() const;

 private:
  std::span<const audio::AudioBuffer> references_;
  std::vector<size_t> sounding_;  // the references that are not silent
  int64_t samples_ = 0, frame_samples_ = 0;
  int threads_ = 1;
  // Of the delayed channels (bss_filters_impl.h): of all references that sound, and of each.
  Eigen::MatrixXd factor_;
  std::vector<Eigen::MatrixXd> own_factors_;
};

// The median of a song's frames without those that are NaN or infinite; NaN if none is left.
double median_of_frames(std::span<const double> frames);

}  // namespace hum::eval
