// The report of `hum evaluate stems`: separated stems against the true ones.
#pragma once

#include <string>

#include "base/fields.h"
#include "base/json_fwd.h"

namespace hum::app {

struct StemReportOptions {
  std::string estimates, references;  // folders (stem_songs.h)
  std::string output;                 // a folder for the page; empty: none
  bool bss = true;                    // BSSEval v4

  template <class V>
  void visit_fields(V& v) {
    v("bss", bss, "compute BSSEval v4, which takes most of the time");
  }
};

// {"about", "figures": [{"key", "name", "what", "over_songs"}], "rows": [{"name", "role", "what"}],
//  "stems": {STEM: {ROW: {KEY: {"value", "low", "high", "songs"}}}},
//  "above_best_gain": {STEM: {"value", "low", "high", "songs"}}: SDR, song by song,
//  "songs": {SONG: {"targets", "figures": {STEM: {ROW: {KEY: number}}}, "levels_dbfs"}}}
// "targets" are the estimates' frames in museval's form. What is not a number is null. Writes the
// folder `output` too (docs/formats/stem-report.md). Throws: what find_stem_songs, read_stem_song
// and eval::ReportFolder throw; kFailure after a stop signal.
Json stem_report(const StemReportOptions& options);
std::string stem_text(const Json& report);

}  // namespace hum::app
