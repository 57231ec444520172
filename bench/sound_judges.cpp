// sound-judges: is hum's output nearer to the true rendering than 19 other presets that play the
// same notes? The judges are such that no loss ever saw: the second preset classifier
// (weights/judge), aisfx and musicnn. A judge counts only if, in the mean over clips, it finds true
// tokens nearer to the truth than a copy of the reference, and that nearer than a sine. Beside them
// the timbre distance with a floor at 60 dB, which sound-unseen judges by. Reported, without
// limits.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>

#include "app/evaluation/model_systems.h"
#include "app/evaluation/test_sounds.h"
#include "app/session_options.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/embeddings.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/timbre.h"
#include "models/weights_folder.h"

namespace hum::bench {
namespace {

using hear::Sound;

constexpr int64_t kClips = 40, kSmokeClips = 1;
constexpr int64_t kSeed = 20270519;  // of no other bar
constexpr double kReference_s = 3;
constexpr const char *kHum = "hum", *kToldHum = "hum, true notes";
// The first sounds of each clip; its rivals follow.
constexpr const char* kRows[] = {
    "true rendering", "guided decoder on true tokens", "copy of the reference", "sine", kHum,
    kToldHum};
constexpr size_t kLadder = 4;  // of these: from the best to the worst

struct Judge {
  std::string name;
  bool is_outside = true;
  double (*distance)(const Place& a, const Place& b) = cosine_distance;
  std::vector<Place> places = {};  // of all sounds, clip by clip
};

// The sounds of all clips, as many for each: kRows, then the rivals.
struct Played {
  size_t clips = 0;
  std::vector<Sound> sounds;

  size_t per_clip() const { return sounds.size() / clips; }
};

std::vector<eval::System> rows_of(app::ModelSystems& model) {
  auto all = model.systems();
  all.push_back(eval::true_rendering());
  all.push_back(model.guided_copy());
  for (auto& floor : eval::floors()) all.push_back(std::move(floor));
  std::vector<eval::System> rows;
  for (const char* name : kRows) {
    const auto found = std::ranges::find(all, name, &eval::System::name);
    HUM_CHECK(found != all.end(), "no row '{}'", name);
    rows.push_back(*found);
  }
  return rows;
}

Played play(const Scale& scale, runtime::Session& session) {
  const auto weights = app::weights_folder("");
  const eval::TestSetOptions options{
      .seed = kSeed, .clips = scale.smoke ? kSmokeClips : kClips, .reference_s = kReference_s};
  const app::TestSounds test_sounds(weights, "");
  eval::TestSources sources = test_sounds.sources();
  sources.render_other_font = {};
  app::ModelSystems model(session, weights);
  const auto rows = rows_of(model);
  Played played;
  Progress progress("playing", options.clips);
  for (const auto& plan : eval::plan_test_set(options, sources)) {
    const auto clip = eval::make_test_clip(plan, options, sources);
    model.prepare(clip);
    for (const auto& row : rows) {
      played.sounds.push_back(row.play(clip));
      played.sounds.back().resize(clip.truth.size());
    }
    for (const data::Preset* preset : eval::rival_presets(plan, options, sources)) {
      played.sounds.push_back(data::levelled(sources.render(clip.notes, *preset, options.seconds)));
    }
    progress.update(static_cast<int64_t>(++played.clips));
  }
  return played;
}

// Those that can judge here. Adds to the bar why others cannot.
std::vector<Judge> judges_of(const Played& played, runtime::Session& session, eval::Bar& bar) {
  auto embeddings = outside_embeddings(played.sounds);
  std::vector<Judge> judges = {{.name = "MFCC, 60 dB", .is_outside = false, .distance = distance}};
  for (const Sound& sound : played.sounds) {
    judges[0].places.push_back(
        as_place(eval::timbre_of(sound, data::kSampleRate, eval::kAudibleRange_db)));
  }
  constexpr const char* kClassifier = "second classifier";
  const auto weights = models::weights_part(app::weights_folder(""), "judge");
  if (std::filesystem::exists(weights)) {
    const auto classify = app::preset_classifier(session, weights);
    judges.push_back({.name = kClassifier});
    for (const Sound& sound : played.sounds) {
      judges.back().places.push_back(
          as_place(classify(sound, data::find_preset("flute")).embedding));
    }
  } else {
    embeddings.left_out[kClassifier] =
        "weights/judge is not trained: hum train configs/classifier-robust.yaml";
  }
  for (auto& [program, places] : embeddings.of) {
    judges.push_back({.name = program, .places = std::move(places)});
  }
  for (const auto& [name, reason] : embeddings.left_out) {
    bar.ours["left out"][name] = reason;
    spdlog::warn("{} does not judge: {}", name, reason);
  }
  return judges;
}

// Distances of sound `i` of each clip to the clip's truth.
std::vector<double> distances(const Judge& judge, const Played& played, size_t i) {
  std::vector<double> result;
  for (size_t at = 0; at < played.sounds.size(); at += played.per_clip()) {
    result.push_back(judge.distance(judge.places[at], judge.places[at + i]));
  }
  return result;
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// For each rival of each clip: 1 if it is farther from the truth than the output, else 0.
std::vector<double> verdicts(const Judge& judge, const Played& played, size_t output) {
  const auto ours = distances(judge, played, output);
  std::vector<double> result;
  for (size_t clip = 0; clip < played.clips; ++clip) {
    const auto places = std::span(judge.places).subspan(clip * played.per_clip());
    for (size_t rival = std::size(kRows); rival < played.per_clip(); ++rival) {
      result.push_back(judge.distance(places[0], places[rival]) > ours[clip] ? 1 : 0);
    }
  }
  return result;
}

Json interval(const std::vector<double>& clips) {
  const auto resamples = eval::draw_resamples(std::ssize(clips), {});
  const auto found = eval::mean_interval(clips, resamples);
  return {{"value", found.value}, {"low", found.low}, {"high", found.high}};
}

// The share of rivals that are farther than the output, and how often all are.
Json against_rivals(const std::vector<double>& verdicts, size_t clips) {
  const size_t rivals = verdicts.size() / clips;
  std::vector<double> shares, nearest;
  for (size_t clip = 0; clip < clips; ++clip) {
    shares.push_back(mean(std::span(verdicts).subspan(clip * rivals, rivals)));
    nearest.push_back(shares.back() == 1 ? 1 : 0);
  }
  return {{"rivals that are farther", interval(shares)}, {"nearest of all", interval(nearest)}};
}

// The share of equal verdicts.
double agreement(const std::vector<double>& a, const std::vector<double>& b) {
  size_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

// Adds a judge's figures, with a row of the table, and returns whether it counts.
bool add_judge(const Judge& judge, const Played& played, eval::Bar& bar, eval::TextTable& table) {
  std::vector<double> ladder;
  std::vector<std::string> cells = {judge.name};
  for (size_t step = 0; step < kLadder; ++step) {
    ladder.push_back(mean(distances(judge, played, step)));
    cells.push_back(fmt::format("{:.4f}", ladder.back()));
    bar.peer[judge.name][kRows[step]] = ladder.back();
  }
  const bool counts =
      std::ranges::adjacent_find(ladder, std::ranges::greater_equal()) == ladder.end();
  Json& figures = bar.ours[judge.name];
  figures["counts"] = counts;
  for (size_t output = kLadder; output < std::size(kRows); ++output) {
    figures[kRows[output]] = against_rivals(verdicts(judge, played, output), played.clips);
    const Json& farther = figures[kRows[output]]["rivals that are farther"];
    cells.push_back(fmt::format("{:.3f}", farther["value"].get<double>()));
  }
  cells.emplace_back(counts ? "yes" : "no");
  table.row(std::move(cells));
  return counts;
}

void add_agreement(const std::vector<const Judge*>& judges, const Played& played, eval::Bar& bar) {
  std::vector<double> all;
  for (size_t i = 0; i < judges.size(); ++i) {
    for (size_t j = i + 1; j < judges.size(); ++j) {
      all.push_back(
          agreement(verdicts(*judges[i], played, kLadder), verdicts(*judges[j], played, kLadder)));
      bar.ours["agreement"][fmt::format("{}, {}", judges[i]->name, judges[j]->name)] = all.back();
    }
  }
  if (!all.empty()) bar.ours["mean agreement"] = mean(all);
}

}  // namespace

eval::Bar sound_judges(const Scale& scale) {
  eval::Bar bar{.name = "sound-judges",
                .unit = "share of rivals farther from the true rendering than hum, by the judges",
                .bar =
                    "19 other presets playing the same notes are farther from the true rendering "
                    "than hum's output: reported by judges that no loss saw, with their agreement; "
                    "a judge counts if it puts truth, true tokens, a copy of the reference and a "
                    "sine in this order; no limit"};
  runtime::Session session(app::session_options());
  const Played played = play(scale, session);
  const auto judges = judges_of(played, session, bar);
  std::vector<std::string> header = {"judge, distance to the truth"};
  header.insert(header.end(), kRows, kRows + kLadder);
  header.insert(header.end(), {"rivals farther than hum", "than hum, true notes", "counts"});
  eval::TextTable table(std::move(header));
  std::vector<const Judge*> counting;
  std::vector<double> shares;
  for (const Judge& judge : judges) {
    if (!add_judge(judge, played, bar, table) || !judge.is_outside) continue;
    counting.push_back(&judge);
    shares.push_back(mean(verdicts(judge, played, kLadder)));
  }
  std::cerr << table.text();
  add_agreement(counting, played, bar);
  if (shares.empty()) {
    bar.reason = "no outside judge counts here";
  } else {
    bar.value = mean(shares);
    bar.checks.holds("measured", true);
  }
  return bar;
}

}  // namespace hum::bench
