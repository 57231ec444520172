// The report of `hum evaluate model` is a folder with report.json, index.html, clips.csv, sounds,
// pictures and a listening test (docs/formats/report.md).
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
  std::string weights, singing, references, other_font;
  std::vector<std::string> against, listen;
  eval::TestSetOptions test_set;
  eval::BootstrapOptions bootstrap;

  template <class V>
  void visit_fields(V& v) {
    v("weights", weights, "folder of weights to evaluate (default: HUM_WEIGHTS, else weights/)");
    v("clips", test_set.clips,
      "number of 6 s clips, over seen and unseen presets and the seven modes");
    v("reference_seconds", test_set.reference_s, "length of a clip's timbre reference");
    v("seed", test_set.seed, "random seed of the clips");
    v("resamples", bootstrap.resamples, "number of bootstrap resamples");
    v("bootstrap_seed", bootstrap.seed, "random seed of the bootstrap");
    v("against", against, "NAME=FOLDER: also evaluate these weights on the same clips; repeatable");
    v("other_font", other_font, "sound font that was not used in training (default: TimGM6mb)");
    v("singing", singing,
      "recording of a singer, or a folder of recordings (default: examples/vocadito_10.wav)");
    v("references", references,
      "recording of an instrument, or a folder of recordings: each plays the first singer's "
      "phrase");
    v("listen", listen,
      "row that the listening test plays (default: hum, and three that show its limits); "
      "repeatable");
  }
};

// Evaluates the models, writes the folder and returns report.json. After an error or a stop signal
// it leaves the results of finished clips beside the folder (.NAME.unfinished), and the same call
// resumes with them; results of other settings (clip_settings.h) are judged again. Throws: kUsage
// for options out of range, kNoInput without weights, kCannotCreate when the folder cannot be
// written, kTemporary when another process is writing it.
Json write_model_report(const ModelReportOptions& options);

}  // namespace hum::app
