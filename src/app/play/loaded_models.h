// Models in one session that stay loaded, so that the next recording waits for none, whatever its
// preset. `hum generate` uses them for one call, a worker of `hum serve` as long as it lives.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/play/hearing.h"
#include "app/play/synthesizer.h"
#include "models/ear/ear_session.h"
#include "pipeline/hum_melody.h"

namespace hum::app {

// How an instrument sounds, and where it plays.
struct Timbre {
  TimbreSource source;
  std::optional<pipeline::PitchRange> range;
  std::vector<std::string> warnings;
  std::vector<ClipPart> parts = {};  // of clips
};

// Reads each model when it is first needed. Thread-safe.
class LoadedModels {
 public:
  // `weights` as in ConversionOptions. Throws: what Session and weights_folder throw.
  explicit LoadedModels(const std::string& weights);

  runtime::Session& session() { return session_; }
  Synthesizer& synthesizer() { return synthesizer_; }
  const std::filesystem::path& weights() const { return weights_; }
  // Whether the weights have what --lm needs.
  bool has_language_model() const;

  // That of a preset is kept, with its residual if one is asked for.
  Timbre timbre(const data::Preset& preset, bool with_residual);
  // Of clips of one instrument, whatever their order; says which part of a recording is used.
  // `notes`: of Basic Pitch, who finds the range. `hear` finds the notes that they play, for the
  // residual and for models that need them; empty: they stay unknown. Throws: what read_clips
  // throws.
  Timbre timbre_of(std::vector<std::string> clips, double max_seconds,
                   const models::basic_pitch::NoteOptions& notes,
                   const pipeline::HearFunction& hear);
  // See hear_function.
  pipeline::HearFunction hear(const models::basic_pitch::NoteOptions& notes,
                              const pipeline::HumOptions& hum, HearProgress progress = {});

 private:
  runtime::Session session_;
  std::filesystem::path weights_;
  Synthesizer synthesizer_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<const models::ear::EarSession> ear_;
  std::map<const data::Preset*, Timbre> presets_;
};

}  // namespace hum::app
