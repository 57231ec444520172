// The report of `hum evaluate notes`: one list of notes against another, and optionally what Basic
// Pitch hears when a real instrument plays the first.
#pragma once

#include <string>

#include "base/json.h"

namespace hum::app {

struct NoteReportOptions {
  std::string reference, estimate;  // .mid, .csv or .json; also annotations (eval/harness)
  std::string beside;               // a preset; empty: none
  double onset_tolerance_ms = 50;
  double pitch_tolerance_cents = 50;
  double offset_ratio = 0;  // 0: ignores ends
  bool best_octave = false;
};

// {"precision", "recall", "f1", "matched", "estimated_notes", "octave_shift_semitones",
// "median_error_cents", "median_error_ms" (of the matched notes), "reference_notes", "judged_by"};
// all but the last two also in "beside", if a preset is given. Annotations have no semitones, so
// with one of them pitches are compared as they were sung. Throws: kUsage naming the option that is
// out of range or unknown; what audio::read_notes and eval::read_annotation throw.
Json note_report(const NoteReportOptions& options);
std::string note_text(const NoteReportOptions& options, const Json& report);

}  // namespace hum::app
