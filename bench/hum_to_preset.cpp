// hum-to-preset: a real singer on three instruments, through the hum program. The requested notes
// are those that `hum generate` reports. The ceiling is FluidSynth playing them on the same preset.
#include <iostream>
#include <span>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/io.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/program.h"
#include "eval/harness/instrument_row.h"
#include "pipeline/generate.h"

namespace hum::bench {
namespace {

using eval::InstrumentJudge;
using eval::InstrumentLimits;
using eval::InstrumentRow;

constexpr const char* kPresets[] = {"violin", "flute", "piano"};

struct Generated {
  std::vector<float> samples;  // 22,050 Hz
  std::vector<audio::Note> notes;
};

Generated generate(const std::string& preset, const ScratchFolder& folder) {
  const std::string sound = folder / (preset + ".wav"), notes = folder / (preset + ".json");
  run_hum({"generate", example_recording().string(), "--preset", preset, "-o", sound, "--midi",
           notes, "--rate", "22050", "--bits", "float", "--json"});
  return {audio::read_mono(sound).samples, audio::read_notes(notes)};
}

// The same notes on the requested preset and on the other two: only the timbre differs.
InstrumentJudge judge_of(const std::string& preset, const std::vector<audio::Note>& notes,
                         const eval::Renderer& render, const eval::Transcriber& transcribe) {
  std::vector<const data::Preset*> presets;
  for (const char* name : kPresets) presets.push_back(&data::find_preset(name));
  data::FluidRenderer fluid;
  const data::Preset& requested = data::find_preset(preset);
  return {eval::instrument_task(requested, presets, notes,
                                {read_example(), app::render_reference(requested, fluid)}, render),
          transcribe};
}

Json figures(const InstrumentRow& row) {
  return {{"chroma_of_ceiling", row.kept.chroma}, {"f1_of_ceiling", row.kept.f1_sung},
          {"f1_50_ms_of_ceiling", row.kept.f1},   {"timbre_distance", row.distance},
          {"nearest_other", row.nearest_other},   {"hum_distance", row.hum_distance},
          {"sine_distance", row.sine_distance},   {"fails", row.failures()}};
}

class Table {
 public:
  void add(const std::string& preset, const std::string& name, const InstrumentRow& row) {
    text_.row({preset, name, fmt::format("{:.3f}", row.score.chroma),
               fmt::format("{:.3f}", row.score.f1_sung), fmt::format("{:.3f}", row.kept.chroma),
               fmt::format("{:.3f}", row.kept.f1_sung), fmt::format("{:.1f}", row.distance),
               fmt::format("{:.1f}", row.nearest_other), fmt::format("{:.1f}", row.hum_distance),
               fmt::format("{:.1f}", row.sine_distance),
               fmt::format("{}", fmt::join(row.failures(), ", "))});
  }
  std::string text() const { return text_.text(); }

 private:
  eval::TextTable text_{{"preset", "row", "chroma", "F1", "chroma/ceiling", "F1/ceiling", "timbre",
                         "other", "hum", "sine", "fails"}};
};

}  // namespace

eval::Bar hum_to_preset(const Scale& scale) {
  const InstrumentLimits limits;
  eval::Bar bar{
      .name = "hum-to-preset",
      .value = 1.0,
      .unit = "lowest F1 relative to the ceiling",
      .bar = fmt::format(
          "each preset: chroma >= {:.2f}, F1 (100 ms) >= {:.2f} of the ceiling; closer to the true "
          "rendering than to others, at under {} of the distance of hum and sine; negative "
          "controls fail",
          limits.chroma, limits.f1, limits.timbre_share)};
  runtime::Session session(app::session_options());
  const auto transcribe = transcriber(session);
  const auto render = renderer();
  const ScratchFolder folder;
  Table table;
  for (const std::string preset : std::span(kPresets).first(scale.smoke ? 1 : 3)) {
    spdlog::info("{}: generating and judging", preset);
    const Generated generated = generate(preset, folder);
    const InstrumentJudge judge = judge_of(preset, generated.notes, render, transcribe);
    const InstrumentRow ours = judge.judge(generated.samples);
    bar.checks.holds(preset, ours.failures(limits).empty());
    bar.value = std::min(bar.value.get<double>(), ours.kept.f1_sung);
    bar.ours[preset] = figures(ours);
    bar.peer[preset]["ceiling"] = {{"chroma", judge.ceiling().chroma},
                                   {"f1", judge.ceiling().f1_sung},
                                   {"f1_50_ms", judge.ceiling().f1}};
    table.add(preset, "hum", ours);
    for (const auto& [name, samples] : judge.negative_controls()) {
      const InstrumentRow control = judge.judge(samples);
      bar.checks.holds(fmt::format("{}: {} fails", preset, name),
                       !control.failures(limits).empty());
      bar.peer[preset][name] = figures(control);
      table.add(preset, name, control);
    }
    table.add(preset, "ceiling",
              judge.judge(render(generated.notes, data::find_preset(preset),
                                 pipeline::end_of(generated.notes) + pipeline::kMaxRelease_s)));
  }
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
