// Precision, recall and F1 of notes as mir_eval.transcription defines them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::eval {

struct NoteScoreOptions {
  double onset_tolerance_s = 0.05;  // 0.1 for real singing
  double pitch_tolerance_cents = 50;
  // With a ratio, also compares ends, within the larger of ratio * duration and
  // offset_min_tolerance_s. mir_eval: 0.2.
  std::optional<double> offset_ratio;
  double offset_min_tolerance_s = 0.05;
  // Also tries the estimate with all notes moved by one or two octaves either way, and takes the
  // best.
  bool best_octave = false;
};

struct NoteScore {
  double precision = 0, recall = 0, f1 = 0;
  int matched = 0;
  int octave_shift_semitones = 0;  // added to the estimate
};

// A note as sung, with a pitch between the semitones.
struct PitchedNote {
  double start_s = 0, end_s = 0;
  double hz = 0;

  bool operator==(const PitchedNote&) const = default;
};

// Notes at the pitch of their semitone, without bends; and at the pitch that was sung: `hz`, else
// the median of the bends.
std::vector<PitchedNote> as_written(std::span<const audio::Note> notes);
std::vector<PitchedNote> as_sung(std::span<const audio::Note> notes);
// At the pitch that an instrument plays: that of the semitone, moved by the median of the bends.
std::vector<PitchedNote> as_played(std::span<const audio::Note> notes);

// Counts a maximum one-to-one matching of notes that agree; all zero when either list is empty.
// Distances are rounded to 4 decimals and compared by <=. Without pitch, as mir_eval's onset score:
// an infinite pitch tolerance. Source: mir_eval 0.8.2 transcription.precision_recall_f1_overlap.
NoteScore score_notes(std::span<const PitchedNote> reference, std::span<const PitchedNote> estimate,
                      const NoteScoreOptions& options = {});
// By written pitches; ignores bends.
NoteScore score_notes(std::span<const audio::Note> reference, std::span<const audio::Note> estimate,
                      const NoteScoreOptions& options = {});

// Two notes that agree, by their indices in the two lists.
struct NoteMatch {
  size_t reference, estimate;
};

// The matching that score_notes counts (in its best octave). Tries the nearest onset first among
// the estimates that agree with a note.
std::vector<NoteMatch> match_notes(std::span<const PitchedNote> reference,
                                   std::span<const PitchedNote> estimate,
                                   const NoteScoreOptions& options = {});
std::vector<NoteMatch> match_notes(std::span<const audio::Note> reference,
                                   std::span<const audio::Note> estimate,
                                   const NoteScoreOptions& options = {});

}  // namespace hum::eval
