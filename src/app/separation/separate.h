// Separates songs into stems, from files to files, for `hum separate`.
//
// The files of this folder, from the outside in: separate calls stem_outputs (names of the files),
// stem_file (one file) and song_separator (any rate and channels), and that stem_models (the
// models). stem_confidence says how well a stem may have come out. For `hum remix`, remix calls
// song_separator, then app/play to hear and play a stem, and remixed_song, which mixes.
// sample_spool keeps samples on disk for stem_file and remixed_song.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/separation/stem_file.h"
#include "app/separation/stem_models.h"
#include "app/separation/stem_outputs.h"
#include "base/json.h"

namespace hum::app {

struct SeparateOptions {
  std::vector<std::string> inputs;  // songs, or folders of them
  StemOutputOptions outputs;
  ClipMode clip_mode = ClipMode::kRescale;
  Vocals vocals = Vocals::kAuto;
  std::string weights;  // empty: HUM_WEIGHTS, else weights/
  // Where Spleeter's weights are looked for.
  std::filesystem::path spleeter = models::spleeter::default_weights_path();
  // Loaded already, in place of the three above; or null.
  std::shared_ptr<const StemModels> models;
  double max_seconds = 6 * 3600;
};

// What became of one song.
struct SeparatedFile {
  // {"input", "vocals", "rate_hz", "channels", "seconds", "gain_db", "moved_to_other_db",
  //  "stems": {NAME: {"file", "level_dbfs", "confidence": {"sdr_db", "error_db"}}}, "limited":
  //  [stems that were cut off at full scale], "kept": [files that existed]}; what is not known is
  //  null. Without "stems" if nothing was left to write. After an error {"input", "error", "code"}.
  Json report;
  std::string fault;  // the error and its hint; empty: none
};

struct SeparateSummary {
  size_t songs = 0, faults = 0;
  int exit_code = 0;  // of the first fault
};

// "separate" or "write", and the share of it that is done, 0..1. Called by the thread that works;
// may throw to stop.
using SeparateProgress = std::function<void(std::string_view stage, double done)>;

// Reads and writes block by block: memory does not depend on the length of a song. done: called for
// each song, in order. progress: of a single song, in place of the terminal and of stop signals. An
// error in one of several songs does not stop the others. Throws: what plan_stems and StemModels
// throw; for a single song, what reading and writing throw; kFailure after a stop signal.
SeparateSummary separate(const SeparateOptions& options,
                         const std::function<void(const SeparatedFile&)>& done,
                         const SeparateProgress& progress = {});

// A summary with one line per stem.
std::string separated_text(const Json& report);

}  // namespace hum::app
