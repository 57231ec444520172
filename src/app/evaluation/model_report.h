// The report of `hum evaluate model`: a folder with report.json, index.html, clips.csv, sounds and
// pictures (docs/formats/report.md).
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json_fwd.h"
#include "eval/harness/test_set.h"
#include "eval/metrics/bootstrap.h"

namespace hum::app {

struct ModelReportOptions {
  std::string output;
  std::string weights, singing, other_font;
  std::vector<std::string> against;
  eval::TestSetOptions test_set;
  eval::BootstrapOptions bootstrap;

  template <class V>
  void visit_fields(V& v) {
    v("weights", weights, "folder of the weights to judge (default: HUM_WEIGHTS, else weights/)");
    v("clips", test_set.clips, "clips of 6 s, over seen and unseen presets and the seven modes");
    v("seed", test_set.seed, "seed of the clips");
    v("resamples", bootstrap.resamples, "resamples of the bootstrap");
    v("bootstrap_seed", bootstrap.seed, "seed of the bootstrap");
    v("against", against, "NAME=FOLDER: other weights, judged on the same clips; may be repeated");
    v("other_font", other_font,
      "sound font that training has not heard (default: one of Debian's)");
    v("singing", singing, "recording of a singer (default: examples/vocadito_10.wav)");
  }
};

// Judges, writes the folder, returns report.json. Throws: kUsage for options out of range, kNoInput
// without weights, kCannotCreate when the folder cannot be written; nothing is left then, nor when
// a signal stops it.
Json write_model_report(const ModelReportOptions& options);

}  // namespace hum::app
