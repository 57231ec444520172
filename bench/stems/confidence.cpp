// stems-confidence: the SDR that `hum separate` expects of a stem, against its true SDR. Half of
// the songs, with held-out fonts, fit the lines; the others judge those in weights/separator. The
// figures hold the newly fitted ones, as confidence.json has them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "app/separation/stem_confidence.h"
#include "base/fields_json.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/stems/separated.h"
#include "bench/stems/songs.h"
#include "eval/metrics/stem_figures.h"

namespace hum::bench {
namespace {

using app::StemConfidence, app::StemCues;

constexpr int64_t kWindows = 96, kSmokeWindows = 2;
// Behind those of the other bars.
constexpr int64_t kFirst = 1000;

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

// Solves a x = b for a symmetric positive definite a.
std::array<double, 3> solve(std::array<std::array<double, 3>, 3> a, std::array<double, 3> b) {
  for (size_t pivot = 0; pivot < 3; ++pivot) {
    for (size_t row = pivot + 1; row < 3; ++row) {
      const double factor = a[row][pivot] / a[pivot][pivot];
      for (size_t column = pivot; column < 3; ++column) a[row][column] -= factor * a[pivot][column];
      b[row] -= factor * b[pivot];
    }
  }
  std::array<double, 3> x{};
  for (size_t row = 3; row-- > 0;) {
    x[row] = b[row];
    for (size_t column = row + 1; column < 3; ++column) x[row] -= a[row][column] * x[column];
    x[row] /= a[row][row];
  }
  return x;
}

// By least squares. The ridge, as strong as one example, decides where examples are few.
StemConfidence fitted(std::span<const Example> examples) {
  std::array<std::array<double, 3>, 3> moments{};
  std::array<double, 3> targets{};
  for (size_t i = 0; i < 3; ++i) moments[i][i] = 1;
  for (const Example& example : examples) {
    const std::array<double, 3> x = {1, example.cues.purity_db, example.cues.level_db};
    for (size_t i = 0; i < 3; ++i) {
      targets[i] += x[i] * example.sdr_db;
      for (size_t j = 0; j < 3; ++j) moments[i][j] += x[i] * x[j];
    }
  }
  const auto x = solve(moments, targets);
  return {.offset_db = x[0], .per_purity = x[1], .per_level = x[2]};
}

double mean_sdr_db(std::span<const Example> examples) {
  double sum = 0;
  for (const Example& example : examples) sum += example.sdr_db;
  return sum / static_cast<double>(examples.size());
}

// Root mean square over the examples.
double error_db(std::span<const Example> examples, const auto& expected_db) {
  double sum = 0;
  for (const Example& example : examples) {
    sum += std::pow(expected_db(example) - example.sdr_db, 2);
  }
  return std::sqrt(sum / static_cast<double>(examples.size()));
}

// What is said of one stem: by the stored line, by the new one, and by the mean of all songs.
void report(const std::string& stem, std::span<const Example> fit, std::span<const Example> test,
            const StemMode& mode, const app::StemConfidences& stored, eval::Bar& bar) {
  StemConfidence line = fitted(fit);
  const auto error_of = [&](const StemConfidence& of) {
    return error_db(test, [&](const Example& example) { return of.sdr_db(example.cues); });
  };
  line.error_db = error_of(line);
  bar.ours["fitted"][mode.name][stem] = to_json(line);
  const double mean = mean_sdr_db(fit), guess = error_db(test, [&](const auto&) { return mean; });
  bar.peer[mode.name][stem] = {{"songs_mean_sdr_db", mean}, {"its_error_db", guess}};
  const std::string what = mode.name + ", " + stem;
  const auto known = stored.find(stem);
  bar.checks.holds(what + ": is calibrated", known != stored.end());
  if (known == stored.end()) return;
  const double error = error_of(known->second);
  bar.ours[mode.name][stem] = {{"windows", test.size()}, {"error_db", error}};
  bar.checks.holds(what + ": better than the mean of songs", error < guess);
}

void judge(const StemMode& mode, const Scale& scale, eval::Bar& bar) {
  const app::StemModels models = mode.models();
  stems::RenderedSongs source(stems::Fonts::kHeldOut, scale, kFirst);
  std::array<Examples, 2> halves;  // of songs
  std::map<std::string, size_t> halves_of;
  const int64_t count = scale.smoke ? kSmokeWindows : kWindows;
  for (int64_t i = 0; i < count; ++i) {
    const stems::RenderedSong song = source.next();
    const size_t half = halves_of.emplace(song.song, halves_of.size() % 2).first->second;
    add_examples(song, models, halves[half]);
    if ((i + 1) % 8 == 0) spdlog::info("stems-confidence: {}, {} of {}", mode.name, i + 1, count);
  }
  double sum = 0;
  for (const std::string& stem : models.stems()) {
    const auto &fit = halves[0][stem], &test = halves[1][stem];
    bar.checks.holds(mode.name + ", " + stem + ": sounds in songs of both halves",
                     !fit.empty() && !test.empty());
    if (fit.empty() || test.empty()) return;
    report(stem, fit, test, mode, models.confidences(), bar);
    sum += bar.ours[mode.name].value(stem, Json::object()).value("error_db", std::nan(""));
  }
  if (mode.name == kOwn) bar.value = sum / static_cast<double>(models.stems().size());
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
  for (const char* name : {kOwn, kSpleeter}) {
    if (const StemMode* mode = weights.find(name)) judge(*mode, scale, bar);
  }
  return bar;
}

}  // namespace hum::bench
