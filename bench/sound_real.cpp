// sound-real: people who sing, played on eight instruments by hum's default path and, as the
// measure, by FluidSynth with the same heard notes. Basic Pitch transcribes both, and each is
// scored against those notes. Each figure is a mean over recordings, of one instrument or of all
// eight.
#include <algorithm>
#include <iostream>
#include <set>

#include "app/evaluation/singing_report.h"
#include "app/play/hearing.h"
#include "app/session_options.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "bench/judges.h"
#include "data/synthesis/timing.h"
#include "decode/read.h"

namespace hum::bench {
namespace {

constexpr const char *kHum = "hum", *kTrue = "true rendering";
constexpr const char *kF1 = "F1 50 ms", *kF1At100Ms = "F1", *kChroma = "chroma";
constexpr double kLeastChroma = 0.95, kLeastF1 = 0.90, kLeastEnvelope = 0.7;
// Struck and plucked presets, whose onsets Basic Pitch misses most often in what hum plays.
constexpr const char* kStruck[] = {"piano", "nylon-guitar", "marimba"};
constexpr double kLeastStruckF1 = 0.85;
constexpr size_t kLeastRecordings = 6;
constexpr double kLongest_s = 20, kSmokeLongest_s = 2.5;

std::vector<app::SungRecording> read_singers(const Scale& scale) {
  std::vector<std::filesystem::path> paths = {example_recording()};
  if (!scale.singing.empty()) {
    paths = hear::sounds_below(scale.singing);
  } else if (!scale.smoke && hear::recordings_missing().empty()) {
    paths = hear::all_recordings();
  }
  const auto most =
      static_cast<size_t>(data::sample_of(scale.smoke ? kSmokeLongest_s : kLongest_s));
  std::vector<app::SungRecording> singers;
  for (const auto& path : paths) {
    singers.push_back({path.filename().string(), decode::read_recording(path).samples});
    auto& samples = singers.back().samples;
    samples.resize(std::min(samples.size(), most));
  }
  return singers;
}

// The rows of all recordings and instruments.
class Rows {
 public:
  explicit Rows(const std::vector<app::SungRecording>& singers) {
    runtime::Session session(app::session_options());
    const auto weights = app::weights_folder("");
    app::Synthesizer synthesizer(session, weights);
    const app::SingingJudges judges{app::hear_function(session, weights), transcriber(session),
                                    renderer()};
    Progress progress("singing", std::ssize(singers));
    for (size_t i = 0; i < singers.size(); ++i) {
      const Json more = app::singing_report(synthesizer, judges, singers[i], [](const auto&...) {});
      rows_.insert(rows_.end(), more.begin(), more.end());
      progress.update(static_cast<int64_t>(i) + 1);
    }
  }

  std::set<std::string> names() const { return distinct("row"); }
  std::set<std::string> presets() const { return distinct("preset"); }

  // Of one instrument; empty: of all.
  double mean(const std::string& row, const char* figure, const std::string& preset = "") const {
    double sum = 0, count = 0;
    for (const Json& of : rows_) {
      if (of["row"] != row || (!preset.empty() && of["preset"] != preset)) continue;
      sum += of[figure].get<double>();
      ++count;
    }
    return sum / count;
  }
  double of_true(const char* figure, const std::string& preset = "") const {
    return mean(kHum, figure, preset) / mean(kTrue, figure, preset);
  }

 private:
  std::set<std::string> distinct(const char* key) const {
    std::set<std::string> found;
    for (const Json& row : rows_) found.insert(row[key].get<std::string>());
    return found;
  }

  std::vector<Json> rows_;
};

Json figures(const Rows& rows, const std::string& row) {
  Json result = Json::object();
  for (const char* figure : {kChroma, kF1, kF1At100Ms, "timbre distance", "envelope"}) {
    result[figure] = rows.mean(row, figure);
  }
  return result;
}

void show_presets(const Rows& rows, eval::Bar& bar) {
  eval::TextTable table({"preset, of FluidSynth's", "chroma", "F1 50 ms", "F1 100 ms", "envelope"});
  const auto text = [](double value) { return fmt::format("{:.3f}", value); };
  for (const std::string& preset : rows.presets()) {
    const double chroma = rows.of_true(kChroma, preset), f1 = rows.of_true(kF1, preset),
                 f1_100_ms = rows.of_true(kF1At100Ms, preset),
                 envelope = rows.mean(kHum, "envelope", preset);
    table.row({preset, text(chroma), text(f1), text(f1_100_ms), text(envelope)});
    bar.ours[preset] = {{"chroma_of_true", chroma},
                        {"f1_of_true", f1},
                        {"f1_100_ms_of_true", f1_100_ms},
                        {"envelope", envelope}};
  }
  std::cerr << table.text();
}

}  // namespace

eval::Bar sound_real(const Scale& scale) {
  eval::Bar bar{.name = "sound-real",
                .unit = "note F1 (50 ms) relative to FluidSynth's, from real singing",
                .bar = fmt::format(
                    "all recordings of singers, {} s of each, on eight presets: chroma >= {} and "
                    "note F1 (50 ms) >= {} of FluidSynth's playing the same notes; piano, "
                    "nylon guitar and marimba each >= {}; envelope correlation >= {}",
                    kLongest_s, kLeastChroma, kLeastF1, kLeastStruckF1, kLeastEnvelope)};
  const auto singers = read_singers(scale);
  if (!scale.smoke && singers.size() < kLeastRecordings) {
    bar.reason =
        fmt::format("{} recordings, at least {} are needed", singers.size(), kLeastRecordings);
  }
  const Rows rows(singers);
  bar.ours["recordings"] = singers.size();
  show_presets(rows, bar);
  for (const std::string& name : rows.names()) {
    (name == kHum ? bar.ours : bar.peer)[name] = figures(rows, name);
  }
  bar.value = rows.of_true(kF1);
  bar.checks.at_least("chroma_of_true", rows.of_true(kChroma), kLeastChroma);
  bar.checks.at_least("f1_of_true", bar.value.get<double>(), kLeastF1);
  for (const char* preset : kStruck) {
    const std::string name(data::find_preset(preset).name);
    bar.checks.at_least(name + ", f1_of_true", rows.of_true(kF1, name), kLeastStruckF1);
  }
  bar.checks.at_least("envelope", rows.mean(kHum, "envelope"), kLeastEnvelope);
  bar.ours["f1_100_ms_of_true"] = rows.of_true(kF1At100Ms);
  return bar;
}

}  // namespace hum::bench
