// The report of `hum evaluate notes`: one list of notes against another, and optionally what Basic
// Pitch hears when a real instrument plays the first.
#pragma once

#include <string>

#include "base/json.h"

namespace hum::app {

struct NoteReportOptions {
  std::string reference, estimate;  // .mid, .csv or .json
  std::string beside;               // a preset; empty: none
  double onset_tolerance_ms = 50;
  double pitch_tolerance_cents = 50;
  double offset_ratio = 0;  // 0: ignores ends
  bool best_octave = false;
};

// {"precision", "recall", "f1", "matched", "estimated_notes", "octave_shift_semitones",
// "reference_notes"}; all but the last also in "beside", if a preset is given. Throws: kUsage
// naming the option that is out of range or unknown; what audio::read_notes throws.
Json note_report(const NoteReportOptions& options);
std::string note_text(const NoteReportOptions& options, const Json& report);

}  // namespace hum::app
