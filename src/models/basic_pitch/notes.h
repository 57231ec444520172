// Turns posteriors into notes: thresholds, onset picking, the melodia trick and pitch bends.
// For the notes of one voice see models/ear, for MIDI files audio/.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "models/basic_pitch/posteriors.h"

namespace hum::models::basic_pitch {

// The names are those of basic-pitch's flags.
struct NoteOptions {
  double onset_threshold = 0.5;
  double frame_threshold = 0.3;
  double minimum_note_length_ms = 127.70;
  double minimum_frequency_hz = 0;
  double maximum_frequency_hz = 0;
  bool melodia = true;
  bool infer_onsets = true;
  bool multiple_pitch_bends = false;

  template <class V>
  void visit_fields(V& v) {
    v("onset_threshold", onset_threshold, "lowest onset probability that starts a note, 0 to 1");
    v("frame_threshold", frame_threshold, "lowest note probability that keeps a note on, 0 to 1");
    v("minimum_note_length", minimum_note_length_ms, "shortest note, in milliseconds");
    v("minimum_frequency", minimum_frequency_hz, "lowest pitch to report, in Hz (0: no limit)");
    v("maximum_frequency", maximum_frequency_hz, "highest pitch to report, in Hz (0: no limit)");
    v("melodia", melodia, "also find notes that have no clear onset");
    v("infer_onsets", infer_onsets, "also take sudden rises of a note's probability as onsets");
    v("multiple_pitch_bends", multiple_pitch_bends, "keep the pitch bends of notes that overlap");
  }
};

// Throws: kUsage naming the flag that is out of range.
void validate(const NoteOptions& options);

// A note in frames [start, end), with the mean note probability as amplitude.
struct FrameNote {
  int64_t start = 0;
  int64_t end = 0;
  int pitch = 0;
  float amplitude = 0;
};

// All notes, ordered by start, end and pitch, with one bend per frame, even where notes overlap.
// Source: basic-pitch 0.4.0, note_creation.py, model_output_to_notes.
std::vector<audio::Note> create_notes(const Posteriors& posteriors,
                                      const NoteOptions& options = {});

// Removes the bends of notes that overlap another in time, because a MIDI channel has one bend at a
// time. Callers that write MIDI use this unless multiple_pitch_bends is set.
std::vector<audio::Note> drop_overlapping_pitch_bends(std::vector<audio::Note> notes);

// The parts of create_notes, in order.

// Sets values outside the limits to zero. Notes and onsets have the same shape.
void constrain_frequency(Matrix<float>& notes, Matrix<float>& onsets, const NoteOptions& options);

// The larger of the predicted onsets and the rise of note probabilities over the last one and two
// frames, scaled so that the largest rise is as large as the largest onset. Double, because
// thresholds are compared with it.
Matrix<double> infer_onsets(const Matrix<float>& onsets, const Matrix<float>& notes);

// Notes in the order of detection: from onsets backwards in time, then by falling probability.
std::vector<FrameNote> find_notes(Matrix<float> notes, Matrix<float> onsets,
                                  const NoteOptions& options);

// Bends of one note, from the contour within 25 bins of its pitch under a Gaussian of 5 bins.
std::vector<int> pitch_bends(const Matrix<float>& contour, const FrameNote& note);

// Time of a frame. Windows are slightly shorter than their 172 frames, so each one moves the clock
// back.
double frame_to_seconds(int64_t frame);

}  // namespace hum::models::basic_pitch
