#include "app/evaluation/singing_report.h"

#include "base/json.h"
#include "data/synthesis/timing.h"
#include "eval/harness/instrument_row.h"
#include "eval/metrics/envelope.h"
#include "pipeline/generate.h"
#include "pipeline/hum_melody.h"
#include "pipeline/score.h"

namespace hum::app {
namespace {

constexpr const char* kPresets[] = {"violin",   "flute",   "piano",   "cello",
                                    "clarinet", "trumpet", "marimba", "nylon-guitar"};
constexpr uint64_t kSeed = 1;

Json row_of(const std::string& recording, const data::Preset& preset, const std::string& name,
            const eval::InstrumentRow& row, double envelope) {
  return {{"recording", recording},
          {"preset", preset.name},
          {"row", name},
          {"chroma", row.score.chroma},
          {"F1", row.score.f1_sung},
          {"F1 50 ms", row.score.f1},
          {"chroma of ceiling", row.kept.chroma},
          {"F1 of ceiling", row.kept.f1_sung},
          {"F1 50 ms of ceiling", row.kept.f1},
          {"timbre distance", row.distance},
          {"nearest other preset", row.nearest_other},
          {"envelope", envelope},
          {"falls short of", fmt::format("{}", fmt::join(row.failures(), ", "))}};
}

}  // namespace

Json singing_report(
    Synthesizer& synthesizer, const SingingJudges& judges, const SungRecording& recording,
    const std::function<void(const std::string& preset, std::span<const float> samples,
                             std::span<const audio::Note> notes)>& sounds) {
  const auto& hum = recording.samples;
  std::vector<const data::Preset*> presets;
  for (const char* name : kPresets) presets.push_back(&data::find_preset(name));
  data::FluidRenderer renderer;
  Json rows = Json::array();
  for (const data::Preset* preset : presets) {
    const auto melody = pipeline::read_melody(
        hum, judges.melody, {}, pipeline::PitchRange{preset->low, preset->high}, recording.name);
    const auto notes =
        pipeline::make_score(melody.notes, {}, {.can_bend = data::can_bend(*preset)}).notes;
    std::vector<std::string> warnings;
    const auto instrument =
        synthesizer.instrument(synthesizer.preset_timbre(*preset, warnings), {});
    const auto ours = pipeline::finish(pipeline::play(notes, instrument, kSeed),
                                       pipeline::end_of(notes), {.rate_hz = data::kSampleRate});
    const eval::InstrumentJudge judge(
        eval::instrument_task(*preset, presets, notes, {hum, render_reference(*preset, renderer)},
                              judges.render),
        judges.transcribe);
    auto add = [&](const std::string& name, std::span<const float> samples) {
      std::vector<float> whole(samples.begin(), samples.end());
      whole.resize(judge.truth().size());
      rows.push_back(row_of(recording.name, *preset, name, judge.judge(samples),
                            eval::envelope_correlation(judge.truth(), whole, data::kSampleRate)));
    };
    add("hum", ours.samples);
    for (const auto& [name, samples] : judge.negative_controls()) add(name, samples);
    add("true rendering", judge.truth());
    sounds(std::string(preset->name), ours.samples, notes);
  }
  return rows;
}

}  // namespace hum::app
