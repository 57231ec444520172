// sound-notes: are hum's notes as clear as the instrument's? Synthetic hums with known notes, heard
// as by `hum generate`, are played on five presets by its default path and by FluidSynth, which
// gets the same heard notes. Basic Pitch transcribes both; each is scored against the known notes
// as in sound-hum. A row is a kind of hums on a preset, its figure the ratio of the two scores.
// Where FluidSynth itself scores low, the ratio says little: bench/sound_notes.json lists
// FluidSynth's scores (`hum_bars sound-notes --denominators` prints them), measured before any
// training, and the least one that counts.
#include <algorithm>
#include <iostream>
#include <limits>
#include <map>

#include "app/play/hearing.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "data/synthesis/timing.h"
#include "eval/harness/hum_score.h"
#include "pipeline/generate.h"
#include "pipeline/hum_melody.h"
#include "pipeline/score.h"

namespace hum::bench {
namespace {

using audio::Note;
using eval::HumKind;
using eval::KnownHum;
using Readings = std::vector<std::vector<Note>>;

constexpr double kLeastMean = 0.90, kLeastRow = 0.80;
constexpr double kSmokeSeconds = 3;
constexpr size_t kSmokePresets = 1;
constexpr uint64_t kNoiseSeed = 1;

// What bench/sound_notes.json says.
struct Plan {
  eval::HumSetOptions hums;  // of each kind
  double least_denominator = 0;
  std::vector<const data::Preset*> presets;
  Json denominators;  // {kind: {preset: F1}}

  bool counts(HumKind kind, const data::Preset& preset) const {
    return denominators.at(std::string(eval::hum_kind_name(kind)))
               .at(std::string(preset.name))
               .get<double>() >= least_denominator;
  }
};

Plan read_plan(const Scale& scale) {
  const Json json = read_json(source_folder() / "bench/sound_notes.json");
  Plan plan{.hums = {.count = json.at("hums")},
            .least_denominator = json.at("least_denominator"),
            .presets = {},
            .denominators = json.at("denominators")};
  for (const std::string name : json.at("presets")) {
    plan.presets.push_back(&data::find_preset(name));
  }
  if (scale.smoke) {
    plan.hums.count = 1;
    plan.hums.seconds = kSmokeSeconds;
    plan.presets.resize(kSmokePresets);
  }
  return plan;
}

class Studio {
 public:
  explicit Studio(runtime::Session& session)
      : hear_(app::hear_function(session, app::weights_folder(""))),
        judge_(transcriber(session)),
        render_(renderer()),
        synthesizer_(session, app::weights_folder("")) {}

  pipeline::HeardVoice hear(const KnownHum& hum) const { return hear_(hum.samples); }

  // What the preset plays of what was heard.
  static std::vector<Note> melody(const KnownHum& hum, const pipeline::HeardVoice& heard,
                                  const data::Preset& preset) {
    auto notes = pipeline::notes_heard(
        hum.samples, [&](std::span<const float>) { return heard; }, {},
        pipeline::PitchRange{preset.low, preset.high});
    if (notes.empty()) return {};
    return pipeline::make_score(std::move(notes), {}, {.can_bend = data::can_bend(preset)}).notes;
  }

  // Transcriptions of the melody on the instrument's model and on the instrument.
  std::vector<Note> generated(const std::vector<Note>& notes, const data::Preset& preset) {
    if (notes.empty()) return {};
    const auto sound = pipeline::play(notes, instrument(preset), kNoiseSeed);
    return judge_(
        pipeline::finish(sound, pipeline::end_of(notes), {.rate_hz = data::kSampleRate}).samples);
  }
  std::vector<Note> rendered(const std::vector<Note>& notes, const data::Preset& preset) const {
    if (notes.empty()) return {};
    return judge_(render_(notes, preset, pipeline::end_of(notes) + pipeline::kMaxRelease_s));
  }

 private:
  const pipeline::Instrument& instrument(const data::Preset& preset) {
    auto found = instruments_.find(&preset);
    if (found == instruments_.end()) {
      std::vector<std::string> warnings;
      found = instruments_
                  .emplace(&preset, synthesizer_.instrument(
                                        synthesizer_.preset_timbre(preset, warnings), {}))
                  .first;
    }
    return found->second;
  }

  pipeline::HearFunction hear_;
  eval::Transcriber judge_;
  eval::Renderer render_;
  app::Synthesizer synthesizer_;
  std::map<const data::Preset*, pipeline::Instrument> instruments_;
};

// One kind of hums on one preset: F1 of what was heard, and of what is heard when it is played.
struct Row {
  HumKind kind;
  const data::Preset* preset;
  double heard = 0, generated = 0, rendered = 0;

  double ratio() const {
    return rendered > 0 ? generated / rendered : std::numeric_limits<double>::quiet_NaN();
  }
};

std::vector<Row> rows_of(HumKind kind, const Plan& plan, bool generates, Studio& studio) {
  std::vector<KnownHum> hums;
  std::vector<Readings> heard(plan.presets.size()), generated(heard), rendered(heard);
  Progress progress(std::string(eval::hum_kind_name(kind)), plan.hums.count);
  for (int64_t i = 0; i < plan.hums.count; ++i) {
    hums.push_back(eval::make_known_hum(kind, plan.hums, static_cast<uint64_t>(i)));
    const auto voice = studio.hear(hums.back());
    for (size_t p = 0; p < plan.presets.size(); ++p) {
      const auto notes = Studio::melody(hums.back(), voice, *plan.presets[p]);
      heard[p].push_back(notes);
      rendered[p].push_back(studio.rendered(notes, *plan.presets[p]));
      if (generates) generated[p].push_back(studio.generated(notes, *plan.presets[p]));
    }
    progress.update(i + 1);
  }
  std::vector<Row> rows;
  for (size_t p = 0; p < plan.presets.size(); ++p) {
    rows.push_back({.kind = kind,
                    .preset = plan.presets[p],
                    .heard = eval::score_hums(hums, heard[p]).f1,
                    .generated = generates ? eval::score_hums(hums, generated[p]).f1 : 0,
                    .rendered = eval::score_hums(hums, rendered[p]).f1});
  }
  return rows;
}

std::vector<Row> measure(const Scale& scale, const Plan& plan) {
  runtime::Session session(app::session_options());
  Studio studio(session);
  std::vector<Row> rows;
  for (const HumKind kind : eval::kHumKinds) {
    const auto more = rows_of(kind, plan, !scale.denominators, studio);
    rows.insert(rows.end(), more.begin(), more.end());
    if (scale.smoke) break;
  }
  return rows;
}

// The part of bench/sound_notes.json that is measured.
Json denominators_of(const std::vector<Row>& rows) {
  Json result = Json::object();
  for (const Row& row : rows) {
    result[std::string(eval::hum_kind_name(row.kind))][std::string(row.preset->name)] =
        row.rendered;
  }
  return result;
}

std::string table(const std::vector<Row>& rows, const Plan& plan) {
  eval::TextTable table({"hums", "preset", "heard F1", "FluidSynth", "hum", "ratio", "counts"});
  auto text = [](double value) { return fmt::format("{:.3f}", value); };
  for (const Row& row : rows) {
    table.row({std::string(eval::hum_kind_name(row.kind)), std::string(row.preset->name),
               text(row.heard), text(row.rendered), text(row.generated), text(row.ratio()),
               plan.counts(row.kind, *row.preset) ? "yes" : "no"});
  }
  return table.text();
}

void check(eval::Bar& bar, const std::vector<Row>& rows, const Plan& plan) {
  double sum = 0, least = std::numeric_limits<double>::infinity();
  int64_t counting = 0;
  for (const Row& row : rows) {
    const std::string kind(eval::hum_kind_name(row.kind)), preset(row.preset->name);
    const bool counts = plan.counts(row.kind, *row.preset);
    bar.ours[kind][preset] = {{"ratio", row.ratio()}, {"f1", row.generated}, {"counts", counts}};
    bar.peer[kind][preset] = {{"FluidSynth, heard notes", row.rendered},
                              {"heard notes", row.heard}};
    if (!counts) continue;
    ++counting;
    sum += row.ratio();
    least = std::min(least, row.ratio());
  }
  HUM_REQUIRE(counting > 0, "sound-notes: no row of bench/sound_notes.json counts");
  bar.value = sum / static_cast<double>(counting);
  bar.ours["rows that count"] = counting;
  bar.checks.at_least("mean", bar.value.get<double>(), kLeastMean);
  bar.checks.at_least("least", least, kLeastRow);
}

}  // namespace

eval::Bar sound_notes(const Scale& scale) {
  const Plan plan = read_plan(scale);
  eval::Bar bar{.name = "sound-notes",
                .unit = "mean note F1 relative to FluidSynth's playing the same heard notes",
                .bar = fmt::format("synthetic hums of four kinds on five presets: over the rows "
                                   "where FluidSynth reaches {:.2f}, listed beforehand, mean >= "
                                   "{:.2f} and none under {:.2f}",
                                   plan.least_denominator, kLeastMean, kLeastRow)};
  const auto rows = measure(scale, plan);
  if (scale.denominators) {
    bar.ours["denominators"] = denominators_of(rows);
    bar.reason = "only the denominators were measured";
    return bar;
  }
  std::cerr << table(rows, plan);
  check(bar, rows, plan);
  return bar;
}

}  // namespace hum::bench
