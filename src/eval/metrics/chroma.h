// Accuracy of a sound's pitch against the requested notes, frame by frame, by YIN.
#pragma once

#include <cstdint>
#include <span>

#include "audio/notes.h"
#include "audio/pitch.h"

namespace hum::eval {

struct ChromaOptions {
  double tolerance_cents = 50;
  // Margins at the attack and the release of a note, which are not judged.
  double after_onset_s = 0.050;
  double before_end_s = 0.020;
  audio::YinOptions yin;
};

struct ChromaScore {
  double accuracy = 0;             // right frames / judged frames; 0 when no frame is judged
  int64_t frames = 0;              // judged
  int octave_shift_semitones = 0;  // added to the sound's pitch
};

// The share of frames inside notes whose pitch is within the tolerance of the note's (bends
// included), after the best shift of the whole clip in {-24, -12, 0, 12, 24} semitones. Where notes
// overlap, any of them counts. Silence inside a note (60 dB below the clip's loudest frame) is
// wrong.
ChromaScore chroma_accuracy(std::span<const float> samples, int rate_hz,
                            std::span<const audio::Note> notes, const ChromaOptions& options = {});

}  // namespace hum::eval
