#include "app/evaluation/stem_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "app/evaluation/stem_page.h"
#include "app/evaluation/stem_songs.h"
#include "app/stop.h"
#include "audio/resample.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"
#include "base/threads.h"
#include "data/synthesis/timing.h"
#include "eval/harness/bar.h"
#include "eval/report/examples.h"
#include "eval/report/folder.h"
#include "eval/report/site.h"
#include "eval/separation/judge.h"

namespace hum::app {
namespace {

using audio::AudioBuffer;

constexpr size_t kExampleSongs = 3;
constexpr double kExample_s = 10;

Json figure_json(const eval::SongsFigure& figure) {
  return {{"value", finite_or_null(figure.interval.value)},
          {"low", finite_or_null(figure.interval.low)},
          {"high", finite_or_null(figure.interval.high)},
          {"songs", figure.songs}};
}

// The frames of a stem as museval.TrackStore writes them: what is infinite has no number.
Json frames_json(const eval::BssScores& scores) {
  Json frames = Json::array();
  for (size_t i = 0; i < scores.sdr.size(); ++i) {
    frames.push_back({{"time", static_cast<double>(i)},
                      {"duration", 1.0},
                      {"metrics",
                       {{"SDR", finite_or_null(scores.sdr[i])},
                        {"SIR", finite_or_null(scores.sir[i])},
                        {"SAR", finite_or_null(scores.sar[i])},
                        {"ISR", finite_or_null(scores.isr[i])}}}});
  }
  return frames;
}

Json song_json(const eval::SongScores& song) {
  Json targets = Json::array(), figures = Json::object(), levels = Json::object();
  for (size_t stem = 0; stem < song.stems.size(); ++stem) {
    targets.push_back({{"name", song.stems[stem]}, {"frames", frames_json(song.frames[stem])}});
    levels[song.stems[stem]] = finite_or_null(song.levels_dbfs[stem]);
    Json& rows = figures[song.stems[stem]];
    for (size_t row = 0; row < song.values.size(); ++row) {
      for (size_t i = 0; i < eval::stem_figures().size(); ++i) {
        rows[eval::stem_rows()[row].name][eval::stem_figures()[i].key] =
            finite_or_null(song.values[row][stem][i]);
      }
    }
  }
  return {{"targets", targets}, {"figures", figures}, {"levels_dbfs", levels}};
}

Json summary(const std::vector<eval::SongScores>& songs) {
  std::set<std::string> stems;
  for (const auto& song : songs) stems.insert(song.stems.begin(), song.stems.end());
  Json report = {{"figures", Json::array()}, {"rows", Json::array()}};
  for (const eval::StemFigure& figure : eval::stem_figures()) {
    report["figures"].push_back({{"key", figure.key},
                                 {"name", figure.name},
                                 {"what", figure.what},
                                 {"over_songs", figure.is_median ? "median" : "mean"}});
  }
  for (const eval::StemRow& row : eval::stem_rows()) {
    report["rows"].push_back({{"name", row.name}, {"role", row.role}, {"what", row.what}});
  }
  for (const std::string& stem : stems) {
    for (size_t row = 0; row < eval::stem_rows().size(); ++row) {
      Json& cells = report["stems"][stem][eval::stem_rows()[row].name];
      for (size_t i = 0; i < eval::stem_figures().size(); ++i) {
        cells[eval::stem_figures()[i].key] = figure_json(eval::over_songs(songs, stem, row, i));
      }
    }
    report["above_best_gain"][stem] =
        figure_json(eval::above_row(songs, stem, eval::stem_row("estimates"),
                                    eval::stem_row("best gain"), eval::stem_figure("sdr")));
  }
  for (const auto& song : songs) report["songs"][song.name] = song_json(song);
  return report;
}

// The loudest seconds of the reference. Shapes: frames of it.
std::pair<int64_t, int64_t> loudest_part(const AudioBuffer& sound) {
  const auto length = std::min<int64_t>(sound.frames(), std::llround(kExample_s * sound.rate_hz));
  std::vector<double> energy(static_cast<size_t>(sound.frames()) + 1);  // of all before
  const auto channels = static_cast<size_t>(sound.channels);
  for (size_t i = 0; i + 1 < energy.size(); ++i) {
    energy[i + 1] = energy[i];
    for (size_t c = 0; c < channels; ++c) {
      const double sample = sound.samples[i * channels + c];
      energy[i + 1] += sample * sample;
    }
  }
  int64_t best = 0;
  double most = -1;
  for (int64_t first = 0; first + length <= sound.frames(); first += sound.rate_hz) {
    const double here =
        energy[static_cast<size_t>(first + length)] - energy[static_cast<size_t>(first)];
    if (here <= most) continue;
    most = here;
    best = first;
  }
  return {best, best + length};
}

// As reports hold sounds: mono at 22,050 Hz.
std::vector<float> excerpt(const AudioBuffer& sound, std::pair<int64_t, int64_t> part) {
  const auto channels = static_cast<int64_t>(sound.channels);
  const auto begin = sound.samples.begin();
  const AudioBuffer cut{
      sound.rate_hz, sound.channels,
      std::vector<float>(begin + part.first * channels, begin + part.second * channels)};
  return audio::resample(audio::to_mono(cut), data::kSampleRate).samples;
}

void add_examples(const eval::SeparatedSong& song, size_t number, eval::Examples& examples) {
  for (size_t stem = 0; stem < song.stems.size(); ++stem) {
    const auto part = loudest_part(song.references[stem]);
    const std::string heading = fmt::format("{}: {}", song.name, song.stems[stem]);
    const std::pair<const char*, const AudioBuffer*> sounds[] = {
        {"estimate", &song.estimates[stem]},
        {"true stem", &song.references[stem]},
        {"mixture", &song.mixture}};
    for (size_t i = 0; i < std::size(sounds); ++i) {
      examples.add(heading, fmt::format("song-{}-{}-{}", number, stem, i), sounds[i].first,
                   excerpt(*sounds[i].second, part), {});
    }
  }
}

// What the players need (eval/report/player.h).
void write_page(const eval::ReportFolder& folder, const Json& report) {
  for (const char* file : {"player.css", "player.js", "sounds.js"}) {
    folder.write(fmt::format("page/{}", file), eval::page_file(file));
  }
  folder.write("index.html", stem_page(report));
  folder.write("report.json", to_text(report, 1) + "\n");
  for (const auto& [name, song] : report["songs"].items()) {
    folder.write(fmt::format("test/{}.json", name),
                 to_text(Json{{"targets", song["targets"]}}, 2) + "\n");
  }
}

std::string number_text(const Json& value) {
  return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

// The mean of a column of the table, over the stems that have a number; "-" if none has.
std::string mean_text(const std::vector<Json>& values) {
  double sum = 0;
  int count = 0;
  for (const Json& value : values) {
    if (!value.is_number()) continue;
    sum += value.get<double>();
    ++count;
  }
  return number_text(count > 0 ? Json(sum / count) : Json());
}

using Column = std::pair<std::string, std::function<Json(const std::string& stem)>>;

std::string table_of(const Json& report, const std::vector<Column>& columns) {
  std::vector<std::string> header{"stem"}, last{"mean"};
  for (const auto& [name, value] : columns) header.push_back(name);
  eval::TextTable table(header);
  for (const auto& [stem, rows] : report["stems"].items()) {
    std::vector<std::string> cells{stem};
    for (const auto& [name, value] : columns) cells.push_back(number_text(value(stem)));
    table.row(std::move(cells));
  }
  for (const auto& [name, value] : columns) {
    std::vector<Json> values;
    for (const auto& [stem, rows] : report["stems"].items()) values.push_back(value(stem));
    last.push_back(mean_text(values));
  }
  table.row(std::move(last));
  return table.text();
}

}  // namespace

Json stem_report(const StemReportOptions& options) {
  const auto songs = find_stem_songs(options.estimates, options.references);
  std::optional<eval::ReportFolder> folder;
  if (!options.output.empty()) folder.emplace(options.output);
  std::optional<eval::Examples> examples;
  if (folder) examples.emplace(*folder);
  std::vector<eval::SongScores> scores;
  Progress progress("judging", std::ssize(songs));
  for (const StemSong& song : songs) {
    const eval::SeparatedSong sounds = read_stem_song(song);
    if (examples && scores.size() < kExampleSongs) {
      add_examples(sounds, scores.size(), *examples);
    }
    scores.push_back(eval::judge_song(sounds, options.bss, compute_threads(), require_no_stop));
    require_no_stop();
    progress.update(std::ssize(scores), song.name);
  }
  Json report = {{"about",
                  {{"hum", HUM_VERSION},
                   {"estimates", options.estimates},
                   {"references", options.references},
                   {"songs", scores.size()}}}};
  report.update(summary(scores));
  if (folder) {
    report["examples"] = examples->json();
    write_page(*folder, report);
    folder->commit();
  }
  return report;
}

std::string stem_text(const Json& report) {
  std::vector<Column> figures, rows;
  for (const Json& figure : report["figures"]) {
    figures.emplace_back(figure["name"].get<std::string>(), [&](const std::string& stem) {
      return report["stems"][stem]["estimates"][figure["key"].get<std::string>()]["value"];
    });
  }
  for (const Json& row : report["rows"]) {
    rows.emplace_back(row["name"].get<std::string>(), [&](const std::string& stem) {
      return report["stems"][stem][row["name"].get<std::string>()]["sdr"]["value"];
    });
  }
  rows.emplace_back("above best gain", [&](const std::string& stem) {
    return report["above_best_gain"][stem]["value"];
  });
  return fmt::format(
      "{}, in dB:\n{}\nSDR beside floors (mixture to HPSS) and ceilings (IBM, IRM, MWF):\n{}",
      counted(report["about"]["songs"].get<int64_t>(), "song"), table_of(report, figures),
      table_of(report, rows));
}

}  // namespace hum::app
