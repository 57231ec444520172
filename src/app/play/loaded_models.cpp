#include "app/play/loaded_models.h"

#include "app/session_options.h"
#include "audio/io.h"
#include "base/log.h"

namespace hum::app {

LoadedModels::LoadedModels(const std::string& weights)
    : session_(session_options()),
      weights_(weights_folder(weights)),
      synthesizer_(session_, weights_) {}

Timbre LoadedModels::timbre(const data::Preset& preset, bool with_residual) {
  const std::scoped_lock lock(mutex_);
  auto found = presets_.find(&preset);
  if (found == presets_.end()) {
    Timbre timbre{{}, pipeline::PitchRange{preset.low, preset.high}, {}};
    timbre.source = synthesizer_.preset_timbre(preset, timbre.warnings);
    found = presets_.emplace(&preset, std::move(timbre)).first;
  }
  TimbreSource& source = found->second.source;
  if (with_residual && !source.residual) source.residual = synthesizer_.residual(source);
  return found->second;
}

Timbre LoadedModels::timbre_of(const std::filesystem::path& path, double max_seconds,
                               const models::basic_pitch::NoteOptions& notes,
                               const pipeline::HearFunction& hear) {
  Timbre timbre;
  auto clip = read_clip(path, max_seconds, timbre.warnings);
  timbre.part_s = {clip.from_s, clip.to_s};
  if (clip.recording_s > clip.to_s - clip.from_s + 0.05) {
    spdlog::info("{}: the timbre is that of {:.1f} to {:.1f} s of {:.1f} s", audio::name_of(path),
                 clip.from_s, clip.to_s, clip.recording_s);
  }
  timbre.range = pipeline::range_around(transcriber(session_, notes)(clip.samples));
  std::optional<std::vector<audio::Note>> heard;
  if (hear) heard = clip_notes(clip.samples, hear(clip.samples).notes);
  timbre.source = synthesizer_.clip_timbre(std::move(clip.samples), std::move(heard));
  return timbre;
}

pipeline::HearFunction LoadedModels::hear(const models::basic_pitch::NoteOptions& notes,
                                          const pipeline::HumOptions& hum, HearProgress progress) {
  const std::scoped_lock lock(mutex_);
  if (!hum.polyphonic && !ear_) ear_ = load_ear(session_, weights_);
  return hear_function(session_, weights_, notes, hum, ear_, std::move(progress));
}

}  // namespace hum::app
