// Makes notes of the ear's frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/dsp.h"

namespace hum::models::ear {

// Probabilities, one row a frame. Shapes: voiced, onset, offset [T]; f0, note [T, kPitches].
struct Frames {
  std::vector<float> voiced, onset, offset;
  audio::Matrix<uint16_t> f0;  // bf16: ten minutes take 49 MB
  audio::Matrix<float> note;

  int64_t size() const { return std::ssize(voiced); }
};

// The centre of the highest peak within `reach` bins of `around`, as a bin with fractions.
// Shapes: a row of f0, bf16.
double peak_bin(std::span<const uint16_t> row, double around, double reach);

// The pitch of a frame, whether a voice sounds or not: the highest peak of f0.
double frame_hz(const Frames& frames, int64_t frame);

// A note of a voice; data/synthesis/sung_note.h says what one is.
struct HeardNote {
  double start_s = 0, end_s = 0;
  double hz = 0;            // as sung: the median of the steady part
  int pitch = 60;           // as written: MIDI, in the singer's tuning
  double cents = 0;         // of hz from `pitch` at A = 440 Hz
  double tuning_cents = 0;  // the singer's above A = 440 Hz at this note; beyond 50 after a drift
  double confidence = 0;    // probability that the note is right, 0..1
};

// The defaults are the best on a voice that no training heard: bench/hear/constants.cpp.
struct DecoderOptions {
  // Log-probabilities. A note costs this much, so that doubtful ones are left out.
  double note_cost = 3;
  // How much a frame's pitch counts against its voicing.
  double pitch_weight = 0.005;
  // Onset probabilities are raised by this much: training counts frames next to an onset as well.
  double onset_bias = 0.5;
  double shortest_s = 0.06;
  // Notes that are less certain are left out. In theory F1 is best at half of the F1 that is
  // reached. Source: Lipton, Elkan & Naryanaswamy 2014, theorem 1.
  double least_confidence = 0.5;
  // A singer's tuning moves by about this much from note to note.
  double drift_cents = 6;

  template <class V>
  void visit_fields(V& v) {
    v("note_cost", note_cost, "cost of a note, in nats");
    v("pitch_weight", pitch_weight, "weight of a frame's pitch");
    v("onset_bias", onset_bias, "added to the log-odds of an onset");
    v("shortest_s", shortest_s, "shortest note in s");
    v("least_confidence", least_confidence, "notes below this are left out, 0..1");
    v("drift_cents", drift_cents, "change of the tuning from note to note");
  }
};

// Finds the likeliest sequence of notes and rests (Viterbi): in a note the pitch is constant, and
// onsets separate notes. Then finds the tuning of each note as a slow walk (Viterbi), and the
// written pitches with it. A drift of the tuning does not change the melody.
std::vector<HeardNote> decode(const Frames& frames, const DecoderOptions& options = {});

}  // namespace hum::models::ear
