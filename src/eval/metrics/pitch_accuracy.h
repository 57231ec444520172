// Accuracy of the fundamental frequency, frame by frame, as in melody extraction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::eval {

struct PitchAccuracy {
  double raw_pitch = 0;   // share of the reference's voiced frames within the tolerance
  double raw_chroma = 0;  // the same with octaves forgiven, frame by frame
  int64_t frames = 0;     // voiced in the reference
};

// Shapes: Hz per frame, both on the same frames; 0: unvoiced. Ignores the voicing of the estimate,
// but 0 is never right. All zero when the reference has no voiced frame.
// Throws: kFailure when the lengths differ.
// Source: mir_eval 0.8.2 melody.raw_pitch_accuracy and raw_chroma_accuracy (below the tolerance).
PitchAccuracy pitch_accuracy(std::span<const double> reference_hz,
                             std::span<const double> estimate_hz, double tolerance_cents = 50);

// Compares YIN's pitch of the sound with the notes; silence (60 dB below the clip's loudest frame)
// is unvoiced. Without an octave shift: an octave too high is wrong for raw_pitch and right for
// raw_chroma.
PitchAccuracy pitch_accuracy(std::span<const float> samples, int rate_hz,
                             std::span<const audio::Note> notes);

}  // namespace hum::eval
