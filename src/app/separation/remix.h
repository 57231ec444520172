// Plays the melody of a song's stem on another instrument, in the song, for `hum remix`.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/play/converter.h"
#include "app/play/outputs.h"
#include "app/play/performance.h"
#include "app/separation/stem_models.h"
#include "base/json.h"
#include "models/spleeter/separator.h"

namespace hum::app {

struct RemixOptions {
  std::string input;      // a song; "-": stdin
  OutputOptions outputs;  // of one take
  std::string stem = "vocals";
  bool keep = false;   // the stem stays in the song
  double gain_db = 0;  // of the part over the stem
  Vocals vocals = Vocals::kAuto;
  SoundOptions sound;  // only its bits: rate and channels are the song's
  ConversionOptions part;
  // Where Spleeter's weights are looked for.
  std::filesystem::path spleeter = models::spleeter::default_weights_path();
  // Loaded already, in place of `vocals`, `spleeter` and the part's weights; or null.
  std::shared_ptr<const StemModels> stem_models;
  // What lets a user hear the stem alone, for hints; empty: the command.
  std::string listen_hint;

  // The part must be in tune with the song, not with A = 440 Hz.
  RemixOptions() { part.hum.tuning = pipeline::Tuning::kOff; }
};

// Throws, before any long work: kUsage naming the flag that is out of range.
void validate(const RemixOptions& options);

// Returns conversion_report's values and {"stem", "vocals": who found them, "keep", "rate_hz",
// "channels", "stem_lufs", "gain_db": of the whole mix}. `models`: to play with, if they are loaded
// already. Throws: what validate, plan_outputs, StemModels, Converter and reading throw; kBadData,
// naming the stem, if it is silent or has no melody.
Json remix(const RemixOptions& options, const PerformanceEvents& events,
           std::shared_ptr<LoadedModels> models = nullptr);

// The report in one line.
std::string remix_text(const Json& report);

}  // namespace hum::app
