// sound-residual: `hum generate --residual 1` against `--residual 0`, from true notes, on seen and
// unseen presets. By name: with the preset's reference, which for unseen presets is rendered; by
// clip: with 5 s of another melody, whose notes the ear hears. Differences are paired, with 95 %
// intervals. The clips are of a seed that no other bar uses.
#include <iostream>
#include <limits>

#include "app/evaluation/model_systems.h"
#include "app/evaluation/test_sounds.h"
#include "app/play/hearing.h"
#include "app/session_options.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/locations.h"
#include "data/synthesis/level.h"
#include "eval/harness/summary.h"
#include "models/weights_folder.h"

namespace hum::bench {
namespace {

constexpr int64_t kClips = 192, kSmokeClips = 2;
constexpr int64_t kSeed = 20270403;
constexpr const char* kSeen = "seen";
constexpr const char* kUnseen = "unseen preset";
constexpr const char* kMetrics[] = {"chroma",    "note_f1",       "timbre",       "nearest_1",
                                    "nearest_3", "preset_family", "mel_distance", "preset_top1"};

// Where the timbre comes from.
enum class Timbre { kName, kClip };
std::string_view name_of(Timbre timbre) { return timbre == Timbre::kName ? "by name" : "by clip"; }

std::string row_name(Timbre timbre, bool has_residual) {
  return fmt::format("{}{}", name_of(timbre), has_residual ? ", residual" : "");
}

// Plays clips with the timbres of one clip at a time.
class Studio {
 public:
  explicit Studio(runtime::Session& session)
      : synthesizer_(session, app::weights_folder("")),
        hear_(app::item_hear_function(session, app::weights_folder(""))) {}

  void prepare(const eval::TestClip& clip) {
    std::vector<std::string> warnings;
    timbres_[0] = synthesizer_.preset_timbre(*clip.plan.preset, warnings);
    timbres_[1] = synthesizer_.clip_timbre(
        {{clip.reference, app::clip_notes(clip.reference, hear_(clip.reference).notes)}});
  }

  // The result refers to this object.
  eval::System system(Timbre timbre, bool has_residual) {
    const app::SynthesisOptions options{.residual = has_residual ? 1.0 : 0.0};
    return {.name = row_name(timbre, has_residual),
            .what = "hum generate, from true notes",
            .play =
                [this, timbre, options](const eval::TestClip& clip) {
                  return play(timbres_[static_cast<size_t>(timbre)], options, clip);
                },
            .against = row_name(timbre, false)};
  }

 private:
  std::vector<float> play(const app::TimbreSource& timbre, const app::SynthesisOptions& options,
                          const eval::TestClip& clip) {
    auto samples =
        pipeline::play(clip.notes, synthesizer_.instrument(timbre, options), clip.plan.melody);
    samples.resize(clip.truth.size());
    return data::levelled(std::move(samples));
  }

  app::Synthesizer synthesizer_;
  pipeline::HearFunction hear_;
  app::TimbreSource timbres_[2];
};

std::vector<eval::System> systems_of(Studio& studio) {
  std::vector<eval::System> systems;
  for (const Timbre timbre : {Timbre::kName, Timbre::kClip}) {
    for (const bool has_residual : {false, true}) {
      systems.push_back(studio.system(timbre, has_residual));
    }
  }
  systems.push_back(eval::true_rendering());
  return systems;
}

Json evaluate(runtime::Session& session, const Scale& scale) {
  const auto weights = app::weights_folder("");
  const eval::TestSetOptions options{.seed = kSeed, .clips = scale.smoke ? kSmokeClips : kClips};
  const app::TestSounds sounds(weights, "");
  eval::TestSources sources = sounds.sources();
  sources.render_other_font = {};
  Studio studio(session);
  const auto plans = eval::plan_test_set(options, sources);
  const auto systems = systems_of(studio);
  Progress progress("evaluating", std::ssize(plans));
  const auto evaluation = eval::evaluate(
      plans,
      [&](const eval::TestClipPlan& plan) {
        auto clip = eval::make_test_clip(plan, options, sources);
        studio.prepare(clip);
        return clip;
      },
      systems,
      {transcriber(session),
       app::preset_classifier(session, models::weights_part(weights, "classifier"))},
      {.progress = [&](size_t done) { progress.update(static_cast<int64_t>(done)); }, .heard = {}});
  write_file(std::filesystem::path(kBuildFolder) / "sound-residual.csv",
             eval::clips_csv(evaluation));
  return eval::summarise(evaluation, {.resamples = scale.smoke ? 100 : 2000});
}

std::string interval_text(const Json& interval) {
  if (!interval.is_object()) return "-";
  if (interval["low"].is_null()) return fmt::format("{:+.3f}", interval["value"].get<double>());
  return fmt::format("{:+.3f} {:+.3f}..{:+.3f}", interval["value"].get<double>(),
                     interval["low"].get<double>(), interval["high"].get<double>());
}

std::string value_text(const Json& figure) {
  return figure.is_object() ? fmt::format("{:.3f}", figure["value"].get<double>()) : "-";
}

// The values of all rows and their differences.
void show(const Json& summary, const std::string& group) {
  std::vector<std::string> header = {"row, " + group};
  header.insert(header.end(), std::begin(kMetrics), std::end(kMetrics));
  eval::TextTable table(header);
  for (const Json& row : summary["rows"]) {
    std::vector<std::string> cells = {row["name"].get<std::string>()};
    std::vector<std::string> less = {"  less " + row.value("against", "")};
    for (const char* metric : kMetrics) {
      cells.push_back(value_text(row["groups"][group][metric]));
      if (row.contains("differences")) {
        less.push_back(interval_text(row["differences"][group][metric]));
      }
    }
    table.row(cells);
    if (less.size() == cells.size()) table.row(less);
  }
  std::cerr << table.text();
}

const Json& row_of(const Json& summary, const std::string& name) {
  for (const Json& row : summary["rows"]) {
    if (row["name"] == name) return row;
  }
  fail(ExitCode::kFailure, fmt::format("the summary has no row '{}'", name));
}

// The end of an interval; NaN if there is none.
double end_of(const Json& interval, const char* end) {
  const bool is_there = interval.is_object() && !interval[end].is_null();
  return is_there ? interval[end].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void check(eval::Bar& bar, const Json& summary, Timbre timbre) {
  const std::string by(name_of(timbre));
  const Json& gains = row_of(summary, row_name(timbre, true))["differences"];
  bar.checks.holds(by + ": unseen nearest_3 rises", end_of(gains[kUnseen]["nearest_3"], "low") > 0);
  bar.checks.holds(by + ": unseen timbre falls", end_of(gains[kUnseen]["timbre"], "high") < 0);
  for (const char* group : {kSeen, kUnseen}) {
    for (const char* metric : {"chroma", "note_f1"}) {
      bar.checks.at_least(fmt::format("{}: {} {}", by, group, metric),
                          end_of(gains[group][metric], "value"), -0.01);
    }
  }
  bar.checks.at_least(by + ": seen preset_top1", end_of(gains[kSeen]["preset_top1"], "value"),
                      -0.02);
}

}  // namespace

eval::Bar sound_residual(const Scale& scale) {
  runtime::Session session(app::session_options());
  const Json summary = evaluate(session, scale);
  eval::Bar bar{.name = "sound-residual",
                .unit = "nearest 3 of unseen presets by name, with the residual less without",
                .bar =
                    "by name and by clip: unseen nearest 3 rises and timbre distance falls "
                    "(intervals exclude 0); chroma and note F1 lose <= 0.01, top 1 <= 0.02"};
  for (const char* group : {kSeen, kUnseen}) show(summary, group);
  for (const Timbre timbre : {Timbre::kName, Timbre::kClip}) check(bar, summary, timbre);
  const Json& by_name = row_of(summary, row_name(Timbre::kName, true))["differences"];
  bar.value = by_name[kUnseen]["nearest_3"]["value"];
  for (const Json& row : summary["rows"]) {
    auto& rows = row["role"] == "system" ? bar.ours : bar.peer;
    Json& kept = rows[row["name"].get<std::string>()];
    for (const char* group : {kSeen, kUnseen}) {
      for (const char* metric : kMetrics) {
        kept[group][metric] = row["groups"][group][metric];
        if (row.contains("differences")) {
          kept["less without"][group][metric] = row["differences"][group][metric];
        }
      }
    }
  }
  bar.ours["seed"] = kSeed;
  return bar;
}

}  // namespace hum::bench
