// What `hum evaluate notes` tells: one list of notes against another, and beside it what is heard
// of the real instrument that plays the first.
#pragma once

#include <string>

#include "base/json.h"

namespace hum::app {

struct NoteReportOptions {
  std::string reference, estimate;  // .mid, .csv or .json
  std::string beside;               // a preset; empty: none
  double onset_tolerance_ms = 50;
  double pitch_tolerance_cents = 50;
  double offset_ratio = 0;  // 0: ends do not count
  bool best_octave = false;
};

// {"precision", "recall", "f1", "matched", "estimated_notes", "octave_shift_semitones",
// "reference_notes"}; all but the last also in "beside", where a preset is asked for. Throws:
// kUsage naming what is out of range or unknown; what audio::read_notes throws.
Json note_report(const NoteReportOptions& options);
std::string note_text(const NoteReportOptions& options, const Json& report);

}  // namespace hum::app
