// How many notes are right: precision, recall and F1 as mir_eval.transcription defines them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::eval {

struct NoteScoreOptions {
  double onset_tolerance_s = 0.05;  // 0.1 for real singing
  double pitch_tolerance_cents = 50;
  // With a ratio, ends count too: within the larger of ratio * duration and offset_min_tolerance_s.
  // mir_eval: 0.2.
  std::optional<double> offset_ratio;
  double offset_min_tolerance_s = 0.05;
  // Try the estimate as it is and moved by one or two octaves either way, all notes alike; the best
  // counts.
  bool best_octave = false;
};

struct NoteScore {
  double precision = 0, recall = 0, f1 = 0;
  int matched = 0;
  int octave_shift_semitones = 0;  // added to the estimate
};

// A largest one-to-one matching of notes that agree; all zero when either list is empty. Bends do
// not count. Source: mir_eval 0.8.2 transcription.precision_recall_f1_overlap (distances rounded to
// 4 decimals, <=).
NoteScore score_notes(std::span<const audio::Note> reference, std::span<const audio::Note> estimate,
                      const NoteScoreOptions& options = {});

// Two notes that agree, by their places in the two lists.
struct NoteMatch {
  size_t reference, estimate;
};

// The matching that score_notes counts (of its best octave). Of the estimates that agree with a
// note, the nearest onset is tried first.
std::vector<NoteMatch> match_notes(std::span<const audio::Note> reference,
                                   std::span<const audio::Note> estimate,
                                   const NoteScoreOptions& options = {});

}  // namespace hum::eval
