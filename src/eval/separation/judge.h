// All figures of the stems of a song, for the estimates and for the floors and ceilings beside
// them; and what they are over several songs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/buffer.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/bss_eval.h"

namespace hum::eval {

struct SeparatedSong {
  std::string name;
  std::vector<std::string> stems;
  audio::AudioBuffer mixture;
  std::vector<audio::AudioBuffer> references, estimates;  // one per stem
};

// A figure of a stem, in dB. Those beyond 120 dB count as 120.
struct StemFigure {
  const char* key;   // in JSON
  const char* name;  // in tables
  const char* what;
  bool is_median;  // over songs, as its field publishes it; else the mean
};
std::span<const StemFigure> stem_figures();
// Its place in stem_figures().
size_t stem_figure(std::string_view key);

// A row beside which the estimates are judged; the first row is the estimates.
struct StemRow {
  const char* name;
  const char* role;  // "system", "floor", "ceiling"
  const char* what;
};
std::span<const StemRow> stem_rows();
// Its place in stem_rows().
size_t stem_row(std::string_view name);

struct SongScores {
  std::string name;
  std::vector<std::string> stems;
  std::vector<double> levels_dbfs;                       // of the references
  std::vector<BssScores> frames;                         // of the estimates
  std::vector<std::vector<std::vector<double>>> values;  // [rows][stems][figures]; NaN: has none
};

// A stem whose reference is below kSilence_dbfs has only its level where it is silent. `bss`: also
// computes BSSEval, which takes most of the time. `before_row` may throw to stop. Throws: kFailure
// when sounds do not fit.
SongScores judge_song(
    const SeparatedSong& song, bool bss, int threads,
    const std::function<void()>& before_row = [] {});

// A figure over the songs that have it, with a 95 % interval (bootstrap over songs): NaN with fewer
// than two.
struct SongsFigure {
  Interval interval;
  int64_t songs = 0;
};
SongsFigure over_songs(std::span<const SongScores> songs, const std::string& stem, size_t row,
                       size_t figure);
// The mean of the figure less that of another row, song by song (paired bootstrap).
SongsFigure above_row(std::span<const SongScores> songs, const std::string& stem, size_t row,
                      size_t other_row, size_t figure);

}  // namespace hum::eval
