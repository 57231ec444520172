#include "app/play/loaded_models.h"

#include <algorithm>

#include "app/session_options.h"
#include "audio/io.h"
#include "base/log.h"
#include "data/synthesis/level.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

// Says which part of a recording is used, unless it is all of the only one.
void log_part(const ClipPart& part, bool is_one_of_several) {
  const bool is_whole = part.recording_s <= part.to_s - part.from_s + 0.05;
  if (is_whole && !is_one_of_several) return;
  const std::string read = is_one_of_several ? fmt::format("; the models read {:.1f} to {:.1f} s",
                                                           part.read_from_s, part.read_to_s)
                                             : "";
  spdlog::info("{}: the timbre is that of {:.1f} to {:.1f} s of {:.1f} s{}",
               audio::name_of(part.file), part.from_s, part.to_s, part.recording_s, read);
}

}  // namespace

LoadedModels::LoadedModels(const std::string& weights)
    : session_(session_options()),
      weights_(weights_folder(weights)),
      synthesizer_(session_, weights_) {}

bool LoadedModels::has_language_model() const {
  const auto has = [&](const char* part) {
    return std::filesystem::exists(models::weights_part(weights_, part));
  };
  return has("coarse") && has("upsampler");
}

Timbre LoadedModels::timbre(const data::Preset& preset, bool with_residual) {
  const std::scoped_lock lock(mutex_);
  auto found = presets_.find(&preset);
  if (found == presets_.end()) {
    Timbre timbre{{}, pipeline::PitchRange{preset.low, preset.high}, {}};
    timbre.source = synthesizer_.preset_timbre(preset, timbre.warnings, false);
    found = presets_.emplace(&preset, std::move(timbre)).first;
  }
  TimbreSource& source = found->second.source;
  if (with_residual && !source.residual) {
    synthesizer_.add_stored(preset, source);
  }
  return found->second;
}

Timbre LoadedModels::timbre_of(std::vector<std::string> files, double max_seconds,
                               const models::basic_pitch::NoteOptions& notes,
                               const pipeline::HearFunction& hear) {
  std::ranges::sort(files);  // so that their order changes nothing
  Timbre timbre;
  auto clips = read_clips(files, max_seconds, timbre.warnings);
  const auto transcribe = transcriber(session_, notes);
  std::vector<audio::Note> all_notes;
  std::vector<TimbreClip> sounds;
  for (auto& [part, samples] : clips) {
    log_part(part, clips.size() > 1);
    data::normalise_level(samples);  // before anybody hears it
    const auto transcribed = transcribe(samples);
    all_notes.insert(all_notes.end(), transcribed.begin(), transcribed.end());
    TimbreClip sound{.read_from_s = part.read_from_s - part.from_s,
                     .read_to_s = part.read_to_s - part.from_s};
    if (hear) sound.notes = clip_notes(samples, hear(samples).notes);
    sound.samples = std::move(samples);
    sounds.push_back(std::move(sound));
    timbre.parts.push_back(std::move(part));
  }
  if (std::ranges::all_of(sounds, &TimbreClip::is_unheard)) {
    timbre.warnings.push_back(
        "no note was heard in what is used of the recordings of the timbre: the sound may be far "
        "from them");
  } else {
    timbre.range = pipeline::range_around(all_notes);
    if (const auto unheard = std::ranges::count_if(sounds, &TimbreClip::is_unheard); unheard > 0) {
      timbre.warnings.push_back(
          fmt::format("no note was heard in {} of the {} recordings of the timbre: only the models "
                      "read them, the corrections do not",
                      unheard, sounds.size()));
    }
  }
  timbre.source = synthesizer_.clip_timbre(std::move(sounds));
  return timbre;
}

pipeline::HearFunction LoadedModels::hear(const models::basic_pitch::NoteOptions& notes,
                                          const pipeline::HumOptions& hum, HearProgress progress) {
  const std::scoped_lock lock(mutex_);
  if (!hum.polyphonic && !ear_) ear_ = load_ear(session_, weights_);
  return hear_function(session_, weights_, notes, hum, ear_, std::move(progress));
}

}  // namespace hum::app
