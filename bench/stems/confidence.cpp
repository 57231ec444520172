// stems-confidence: the SDR that `hum separate` expects of a stem, against its true SDR. Half of
// the songs, with held-out fonts, fit the lines; the others judge those in weights/separator. Both
// are synthesized alike, so recorded music has larger errors. `ours.confidence` is the file
// confidence.json with the newly fitted lines.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/separation/stem_confidence.h"
#include "base/fields_json.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/stems/separated.h"
#include "bench/stems/songs.h"
#include "eval/metrics/stem_figures.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

using app::StemConfidence, app::StemCues;

constexpr int64_t kWindows = 96, kSmokeWindows = 2;
// Other windows than those of the other bars, though of the same songs.
constexpr int64_t kFirst = 1000;
constexpr double kFar_db = 1000;

struct Example {
  StemCues cues;
  double sdr_db = 0;
};
using Examples = std::map<std::string, std::vector<Example>>;  // by stem

void add_examples(const stems::RenderedSong& song, const app::StemModels& models,
                  Examples& examples) {
  const Stems found = separated(song.mixture, models);
  std::vector<std::vector<float>> sounds;
  for (const std::string& stem : models.stems()) sounds.push_back(found.at(stem).samples);
  app::StemCueMeter meter(sounds.size(), song.mixture.rate_hz, song.mixture.channels);
  meter.push(sounds);
  for (size_t i = 0; i < sounds.size(); ++i) {
    const auto& truth = song.stems[i].samples;
    const auto cues = meter.cues(i);
    if (!cues || eval::level_dbfs(truth) < eval::kSilence_dbfs) continue;
    examples[models.stems()[i]].push_back({*cues, eval::sdr_db(truth, sounds[i])});
  }
}

// By least squares.
StemConfidence fitted(std::span<const Example> examples) {
  Eigen::MatrixXd cues(std::ssize(examples), 3);
  Eigen::VectorXd sdr_db(std::ssize(examples));
  StemConfidence line{.least_purity_db = kFar_db,
                      .most_purity_db = -kFar_db,
                      .least_level_db = kFar_db,
                      .most_level_db = -kFar_db};
  for (int64_t i = 0; i < std::ssize(examples); ++i) {
    const auto& [of_stem, sdr] = examples[static_cast<size_t>(i)];
    cues.row(i) << 1, of_stem.purity_db, of_stem.level_db;
    sdr_db[i] = sdr;
    line.least_purity_db = std::min(line.least_purity_db, of_stem.purity_db);
    line.most_purity_db = std::max(line.most_purity_db, of_stem.purity_db);
    line.least_level_db = std::min(line.least_level_db, of_stem.level_db);
    line.most_level_db = std::max(line.most_level_db, of_stem.level_db);
  }
  const Eigen::VectorXd x = cues.completeOrthogonalDecomposition().solve(sdr_db);
  line.offset_db = x[0];
  line.per_purity = x[1];
  line.per_level = x[2];
  return line;
}

double mean_sdr_db(std::span<const Example> examples) {
  double sum = 0;
  for (const Example& example : examples) sum += example.sdr_db;
  return sum / static_cast<double>(examples.size());
}

// Root mean square errors of a line, and of the mean SDR of other songs in its place, over the
// windows of which the line expects something.
struct Errors {
  double line_db = 0, mean_db = 0;
  int64_t windows = 0;
};
Errors errors_of(const StemConfidence& line, double mean_db, std::span<const Example> examples) {
  Errors errors;
  for (const Example& example : examples) {
    const auto expected = line.sdr_db(example.cues);
    if (!expected) continue;
    errors.line_db += std::pow(*expected - example.sdr_db, 2);
    errors.mean_db += std::pow(mean_db - example.sdr_db, 2);
    ++errors.windows;
  }
  const auto count = static_cast<double>(errors.windows);
  errors.line_db = std::sqrt(errors.line_db / count);
  errors.mean_db = std::sqrt(errors.mean_db / count);
  return errors;
}

// Adds the figures of one stem: of the stored line, of the new one, and of the mean of other songs.
// Returns the error of the stored line, NaN if there is none.
double report(const std::string& stem, std::span<const Example> fit, std::span<const Example> test,
              const StemMode& mode, const app::StemConfidences& stored, eval::Bar& bar) {
  const double mean = mean_sdr_db(fit);
  StemConfidence line = fitted(fit);
  line.error_db = errors_of(line, mean, test).line_db;
  bar.ours["confidence"][mode.name][stem] = to_json(line);
  const std::string what = mode.name + ", " + stem;
  const auto known = stored.find(stem);
  bar.checks.holds(what + ": is calibrated", known != stored.end());
  if (known == stored.end()) return std::nan("");
  const Errors errors = errors_of(known->second, mean, test);
  bar.ours[mode.name][stem] = {{"windows", errors.windows}, {"error_db", errors.line_db}};
  bar.peer[mode.name][stem] = {{"songs_mean_sdr_db", mean}, {"its_error_db", errors.mean_db}};
  bar.checks.holds(what + ": better than the mean of songs", errors.line_db < errors.mean_db);
  return errors.line_db;
}

// Whether the windows of a song fit the lines; those of the others judge them.
bool fits(const std::string& sha256) {
  return std::stoi(sha256.substr(0, 1), nullptr, 16) % 2 == 0;
}

// A way to separate, and what it made of the songs.
struct Judged {
  explicit Judged(const StemMode& mode) : mode(mode), models(mode.models()) {}

  const StemMode& mode;
  app::StemModels models;
  Examples fit, test;
};

void separate_all(std::span<const std::unique_ptr<Judged>> modes, const Scale& scale) {
  stems::RenderedSongs source(stems::Fonts::kHeldOut, scale, kFirst);
  const int64_t count = scale.smoke ? kSmokeWindows : kWindows;
  for (int64_t i = 0; i < count; ++i) {
    const stems::RenderedSong song = source.next();
    for (const auto& mode : modes) {
      add_examples(song, mode->models, fits(song.song) ? mode->fit : mode->test);
    }
    if ((i + 1) % 8 == 0) spdlog::info("stems-confidence: {} of {}", i + 1, count);
  }
}

void report_all(Judged& judged, eval::Bar& bar) {
  const app::StemConfidences stored = judged.models.confidences();
  double sum = 0, judged_stems = 0;
  for (const std::string& stem : judged.models.stems()) {
    const auto &fit = judged.fit[stem], &test = judged.test[stem];
    const bool is_known = !fit.empty() && !test.empty();
    bar.checks.holds(judged.mode.name + ", " + stem + ": sounds in songs of both halves", is_known);
    if (!is_known) continue;
    sum += report(stem, fit, test, judged.mode, stored, bar);
    ++judged_stems;
  }
  if (judged.mode.name == kOwn) bar.value = sum / judged_stems;
}

}  // namespace

eval::Bar stems_confidence(const Scale& scale) {
  eval::Bar bar{.name = "stems-confidence",
                .unit = "dB, root mean square error of the expected SDR, mean of six stems",
                .bar = "for each stem, a smaller error than that of the mean SDR of other songs",
                .reason = stems::missing_material(scale)};
  if (!bar.reason.empty()) return bar;
  const StemWeights weights(scale);
  weights.check(bar);
  if (const StemMode* own = weights.find(kOwn)) {
    bar.ours["confidence"] = {{"version", app::kStemConfidenceVersion},
                              {"weights_sha256", runtime::shards_sha256(models::weights_part(
                                                     own->weights, "separator"))}};
  }
  std::vector<std::unique_ptr<Judged>> modes;
  for (const char* name : {kOwn, kSpleeter}) {
    if (const StemMode* mode = weights.find(name)) modes.push_back(std::make_unique<Judged>(*mode));
  }
  if (modes.empty()) return bar;
  separate_all(modes, scale);
  for (const auto& mode : modes) report_all(*mode, bar);
  return bar;
}

}  // namespace hum::bench
