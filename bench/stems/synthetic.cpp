// stems-synthetic: hum's own separator on songs that no training has, with the sound fonts of its
// training and with others. A stem's share is how far its SDR comes from that of the best volume
// knob (the mixture times its best gain, never worse than silence) to that of the ideal ratio mask.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <span>

#include "base/log.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/stems/separated.h"
#include "bench/stems/songs.h"
#include "eval/separation/judge.h"

namespace hum::bench {
namespace {

using stems::Fonts;

constexpr double kLeastSeen = 0.40, kLeastHeldOut = 0.25;
constexpr int64_t kWindows = 64, kSmokeWindows = 1;
constexpr int64_t kTogether = 8;  // windows in memory
constexpr const char *kEstimates = "estimates", *kFloor = "best gain", *kIdeal = "IRM, one mask";

struct Judged {
  std::vector<std::string> songs;  // of each window
  std::vector<eval::SongScores> scores;

  // NaN where a window's stem is silent, but for the level of what was found of it.
  std::vector<double> values(size_t stem, const char* row, const char* figure) const {
    std::vector<double> result;
    for (const auto& window : scores) {
      result.push_back(window.values[eval::stem_row(row)][stem][eval::stem_figure(figure)]);
    }
    return result;
  }
  eval::Interval mean(size_t stem, const char* row, const char* figure) const {
    return stems::mean_by_song(songs, values(stem, row, figure));
  }
};

Judged judge(Fonts fonts, const app::StemModels& models, const Scale& scale) {
  stems::RenderedSongs source(fonts, scale);
  Judged judged;
  const int64_t count = scale.smoke ? kSmokeWindows : kWindows;
  while (std::ssize(judged.songs) < count) {
    std::vector<eval::SeparatedSong> windows;
    for (int64_t i = std::ssize(judged.songs); i < count && std::ssize(windows) < kTogether; ++i) {
      stems::RenderedSong song = source.next();
      Stems found = separated(song.mixture, models);
      std::vector<audio::AudioBuffer> estimates;
      for (const std::string& stem : models.stems()) estimates.push_back(std::move(found.at(stem)));
      judged.songs.push_back(song.song);
      windows.push_back({.name = fmt::format("{}", i),
                         .stems = models.stems(),
                         .mixture = std::move(song.mixture),
                         .references = std::move(song.stems),
                         .estimates = std::move(estimates)});
    }
    std::vector<eval::SongScores> scores(windows.size());
    parallel_for(std::ssize(windows), compute_threads(), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      scores[at] = eval::judge_song(windows[at], /*bss=*/false, /*threads=*/1);
    });
    judged.scores.insert(judged.scores.end(), scores.begin(), scores.end());
    spdlog::info("stems-synthetic: {}, {} of {}", stems::name_of(fonts), judged.songs.size(),
                 count);
  }
  return judged;
}

// What is gained over the floor, and what the ideal mask gains.
struct Way {
  double gained_db = 0, possible_db = 0;
};

// The interval is over songs.
eval::Interval share_of(const Judged& judged, size_t stem) {
  const auto found = judged.values(stem, kEstimates, "sdr"),
             floor = judged.values(stem, kFloor, "sdr"), ideal = judged.values(stem, kIdeal, "sdr");
  std::map<std::string, Way> by_song;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i])) continue;
    Way& way = by_song[judged.songs[i]];
    way.gained_db += found[i] - floor[i];
    way.possible_db += ideal[i] - floor[i];
  }
  std::vector<Way> ways;
  for (const auto& [song, way] : by_song) ways.push_back(way);
  const auto share = [&](std::span<const int32_t> songs) {
    Way sum;
    for (const int32_t song : songs) {
      sum.gained_db += ways[static_cast<size_t>(song)].gained_db;
      sum.possible_db += ways[static_cast<size_t>(song)].possible_db;
    }
    return sum.gained_db / sum.possible_db;
  };
  return eval::percentile_interval(std::ssize(ways), eval::draw_resamples(std::ssize(ways), {}),
                                   share);
}

std::string decibels(const eval::Interval& interval) {
  return std::isnan(interval.value) ? "" : fmt::format("{:.1f}", interval.value);
}

// Adds the figures of all stems to the bar; returns their mean share.
double report(const Judged& judged, Fonts fonts, const std::vector<std::string>& names,
              eval::Bar& bar) {
  std::vector<std::string> header = {stems::name_of(fonts), "windows", "share", "SI-SDRi",
                                     "in silence"};
  for (const auto& row : eval::stem_rows()) header.push_back(fmt::format("{} SDR", row.name));
  eval::TextTable table(header);
  double sum = 0;
  for (size_t stem = 0; stem < names.size(); ++stem) {
    const auto sdr = judged.values(stem, kEstimates, "sdr");
    const auto windows = std::ranges::count_if(sdr, [](double x) { return !std::isnan(x); });
    const auto share = share_of(judged, stem), si_sdri = judged.mean(stem, kEstimates, "si_sdri"),
               silence = judged.mean(stem, kEstimates, "silence_dbfs");
    sum += share.value;
    std::vector<std::string> cells = {
        names[stem], fmt::format("{}", windows),
        fmt::format("{:.3f} [{:.3f}, {:.3f}]", share.value, share.low, share.high),
        decibels(si_sdri), decibels(silence)};
    Json& ours = bar.ours[stems::name_of(fonts)][names[stem]];
    ours = {{"windows", windows},
            {"share", figures_of(share)},
            {"si_sdri_db", figures_of(si_sdri)},
            {"silence_dbfs", figures_of(silence)}};
    for (const auto& row : eval::stem_rows()) {
      const auto of_row = judged.mean(stem, row.name, "sdr");
      cells.push_back(decibels(of_row));
      (row.name == std::string_view(kEstimates)
           ? ours["sdr_db"]
           : bar.peer[stems::name_of(fonts)][names[stem]][row.name]) = figures_of(of_row);
    }
    table.row(cells);
    if (fonts == Fonts::kHeldOut && names[stem] != "other") {
      bar.checks.holds(fmt::format("{}: share above 0", names[stem]), share.low > 0);
    }
  }
  std::cerr << table.text();
  return sum / static_cast<double>(names.size());
}

}  // namespace

eval::Bar stems_synthetic(const Scale& scale) {
  eval::Bar bar{.name = "stems-synthetic",
                .unit =
                    "share of the way from the best gain to the ideal mask, mean of six stems, "
                    "held-out fonts",
                .bar = fmt::format("mean share of the six stems >= {:.2f} with seen fonts, >= "
                                   "{:.2f} with held-out fonts and kits; with those, every stem's "
                                   "but other's > 0, interval excluding 0",
                                   kLeastSeen, kLeastHeldOut),
                .reason = stems::missing_material(scale)};
  if (!bar.reason.empty()) return bar;
  const StemWeights weights(scale);
  const StemMode* own = weights.own(bar);
  if (own == nullptr) return bar;
  const app::StemModels models = own->models();
  for (const auto& [fonts, least] :
       {std::pair(Fonts::kSeen, kLeastSeen), {Fonts::kHeldOut, kLeastHeldOut}}) {
    const Judged judged = judge(fonts, models, scale);
    const double mean = report(judged, fonts, models.stems(), bar);
    bar.checks.at_least(stems::name_of(fonts), mean, least);
    bar.value = mean;
  }
  return bar;
}

}  // namespace hum::bench
