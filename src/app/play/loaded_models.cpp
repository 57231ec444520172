#include "app/play/loaded_models.h"

#include "app/play/hearing.h"
#include "app/session_options.h"

namespace hum::app {

LoadedModels::LoadedModels(const std::string& weights)
    : session_(session_options()),
      weights_(weights_folder(weights)),
      synthesizer_(session_, weights_) {}

const Timbre& LoadedModels::timbre(const data::Preset& preset) {
  const auto found = presets_.find(&preset);
  if (found != presets_.end()) return found->second;
  Timbre timbre{{}, pipeline::PitchRange{preset.low, preset.high}, {}};
  timbre.reference = synthesizer_.preset_reference(preset, timbre.warnings);
  return presets_.emplace(&preset, std::move(timbre)).first->second;
}

Timbre LoadedModels::timbre_of(const std::filesystem::path& path, double max_seconds,
                               const models::basic_pitch::NoteOptions& notes) {
  Timbre timbre;
  auto clip = read_clip(path, max_seconds, timbre.warnings);
  timbre.range = pipeline::range_around(transcriber(session_, notes)(clip));
  timbre.reference = synthesizer_.encode(std::move(clip));
  return timbre;
}

pipeline::HearFunction LoadedModels::hear(const models::basic_pitch::NoteOptions& notes,
                                          const pipeline::HumOptions& hum) {
  if (!hum.polyphonic && !ear_) ear_ = load_ear(session_, weights_);
  return hear_function(session_, weights_, notes, hum, ear_);
}

}  // namespace hum::app
