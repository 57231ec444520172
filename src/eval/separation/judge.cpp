#include "eval/separation/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/quantile.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/stem_figures.h"
#include "eval/separation/masks.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost_db = 120;

enum Figure : size_t { kSdr, kSiSdr, kSiSdrGain, kBssSdr, kIsr, kSir, kSar, kSilence, kBleed };
constexpr StemFigure kFigures[] = {
    {"sdr", "SDR", "signal to distortion over the song (MDX); 0 for silence", false},
    {"si_sdr", "SI-SDR", "the same for the best gain of the reference", false},
    {"si_sdri", "SI-SDRi", "SI-SDR less that of the mixture", false},
    {"bss_sdr", "BSS SDR", "BSSEval v4: signal to distortion, median of frames of 1 s", true},
    {"isr", "ISR", "BSSEval v4: image to spatial distortion", true},
    {"sir", "SIR", "BSSEval v4: signal to interference by other stems", true},
    {"sar", "SAR", "BSSEval v4: signal to artifacts", true},
    {"silence_dbfs", "in silence",
     "level in dBFS over frames of 1 s in which the reference is below -50 dBFS", true},
    {"bleed_db", "bleed", "level of the other stems, relative to their level in the mixture",
     false}};

enum Row : size_t { kEstimates, kMixture, kBestGain, kNothing, kHpss, kIbm, kIrm, kIrmOne, kMwf };
constexpr StemRow kRows[] = {
    {"estimates", "system", "what is judged"},
    {"mixture", "floor", "the mixture as every stem"},
    {"best gain", "floor", "the mixture times its best gain for this song and stem"},
    {"silence", "floor", "zeros"},
    {"HPSS", "floor", "medians: what is sudden as drums, what is steady as any other stem"},
    {"IBM", "ceiling", "ideal binary mask: knows the true stems"},
    {"IRM", "ceiling", "ideal ratio mask: knows the true stems"},
    {"IRM, one mask", "ceiling", "ideal ratio mask that is the same for all channels"},
    {"MWF", "ceiling", "multichannel Wiener filter of the true stems"}};

double limited(double value_db) { return std::clamp(value_db, -kMost_db, kMost_db); }

std::vector<AudioBuffer> estimates_of(const SeparatedSong& song, size_t row) {
  switch (row) {
    case kMixture:
      return std::vector(song.stems.size(), song.mixture);
    case kIbm:
      return ideal_binary_masks(song.mixture, song.references);
    case kIrm:
      return ideal_ratio_masks(song.mixture, song.references);
    case kIrmOne:
      return ideal_ratio_masks(song.mixture, song.references, MaskChannels::kOne);
    case kMwf:
      return ideal_wiener_filters(song.mixture, song.references);
    default:
      break;
  }
  std::vector<AudioBuffer> estimates;
  if (row == kHpss) {
    const SteadyAndSudden parts = steady_and_sudden(song.mixture);
    for (const std::string& stem : song.stems) {
      estimates.push_back(stem == "drums" ? parts.sudden : parts.steady);
    }
    return estimates;
  }
  for (const AudioBuffer& reference : song.references) {
    if (row == kBestGain) {
      estimates.push_back(best_scaled(song.mixture, reference));
    } else {
      estimates.push_back(
          {reference.rate_hz, reference.channels, std::vector<float>(reference.samples.size())});
    }
  }
  return estimates;
}

bool is_zero(const AudioBuffer& sound) {
  return std::ranges::all_of(sound.samples, [](float sample) { return sample == 0; });
}

std::vector<double> figures_of(const SeparatedSong& song, const Bleed& bleed, size_t stem,
                               const AudioBuffer& estimate, const BssScores& frames) {
  std::vector<double> figures(std::size(kFigures), kNan);
  const AudioBuffer& reference = song.references[stem];
  figures[kSilence] = limited(level_in_silence_dbfs(reference, estimate, reference.rate_hz));
  if (level_dbfs(reference.samples) < kSilence_dbfs) return figures;
  figures[kSdr] = limited(sdr_db(reference.samples, estimate.samples));
  figures[kBleed] = limited(bleed.db(stem, estimate));
  if (!is_zero(estimate)) {
    figures[kSiSdr] = limited(si_sdr_db(reference.samples, estimate.samples));
    figures[kSiSdrGain] =
        figures[kSiSdr] - limited(si_sdr_db(reference.samples, song.mixture.samples));
  }
  figures[kBssSdr] = limited(median_of_frames(frames.sdr));
  figures[kIsr] = limited(median_of_frames(frames.isr));
  figures[kSir] = limited(median_of_frames(frames.sir));
  figures[kSar] = limited(median_of_frames(frames.sar));
  return figures;
}

SongsFigure with_interval(const std::vector<double>& values, bool is_median) {
  const auto count = std::ssize(values);
  if (values.empty()) return {{kNan, kNan, kNan}, 0};
  const auto resamples = draw_resamples(count, {});
  if (!is_median) return {mean_interval(values, resamples), count};
  const auto statistic = [&](std::span<const int32_t> songs) {
    std::vector<double> drawn;
    for (const int32_t song : songs) drawn.push_back(values[static_cast<size_t>(song)]);
    return median(std::move(drawn));
  };
  return {percentile_interval(count, resamples, statistic), count};
}

// The values of a song's stem in all rows, [rows][figures]; empty if it has no such stem.
std::vector<std::vector<double>> of_stem(const SongScores& song, const std::string& stem) {
  const auto found = std::ranges::find(song.stems, stem);
  if (found == song.stems.end()) return {};
  std::vector<std::vector<double>> rows;
  for (const auto& row : song.values) {
    rows.push_back(row[static_cast<size_t>(found - song.stems.begin())]);
  }
  return rows;
}

}  // namespace

std::span<const StemFigure> stem_figures() { return kFigures; }

size_t stem_figure(std::string_view key) {
  const auto found = std::ranges::find(kFigures, key, &StemFigure::key);
  HUM_CHECK(found != std::end(kFigures), "{}", key);
  return static_cast<size_t>(found - kFigures);
}

std::span<const StemRow> stem_rows() { return kRows; }

size_t stem_row(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &StemRow::name);
  HUM_CHECK(found != std::end(kRows), "{}", name);
  return static_cast<size_t>(found - kRows);
}

SongScores judge_song(const SeparatedSong& song, bool bss, int threads,
                      const std::function<void()>& before_row) {
  HUM_REQUIRE(
      song.references.size() == song.stems.size() && song.estimates.size() == song.stems.size(),
      "judge_song: {} stems, {} references, {} estimates", song.stems.size(),
      song.references.size(), song.estimates.size());
  SongScores scores{.name = song.name, .stems = song.stems};
  for (const AudioBuffer& reference : song.references) {
    scores.levels_dbfs.push_back(level_dbfs(reference.samples));
  }
  const Bleed bleed(song.references);
  std::optional<BssEval> judge;
  if (bss) judge.emplace(song.references, song.mixture.rate_hz, threads);
  for (size_t row = 0; row < std::size(kRows); ++row) {
    before_row();
    const auto estimates = row == kEstimates ? song.estimates : estimates_of(song, row);
    std::vector<BssScores> frames(song.stems.size());
    if (judge) frames = judge->score(estimates);
    std::vector<std::vector<double>> values;
    for (size_t stem = 0; stem < song.stems.size(); ++stem) {
      values.push_back(figures_of(song, bleed, stem, estimates[stem], frames[stem]));
    }
    scores.values.push_back(std::move(values));
    if (row == kEstimates) scores.frames = std::move(frames);
  }
  return scores;
}

SongsFigure over_songs(std::span<const SongScores> songs, const std::string& stem, size_t row,
                       size_t figure) {
  std::vector<double> values;
  for (const SongScores& song : songs) {
    const auto rows = of_stem(song, stem);
    if (!rows.empty() && !std::isnan(rows[row][figure])) values.push_back(rows[row][figure]);
  }
  return with_interval(values, kFigures[figure].is_median);
}

SongsFigure above_row(std::span<const SongScores> songs, const std::string& stem, size_t row,
                      size_t other_row, size_t figure) {
  std::vector<double> values;
  for (const SongScores& song : songs) {
    const auto rows = of_stem(song, stem);
    if (rows.empty()) continue;
    const double above = rows[row][figure] - rows[other_row][figure];
    if (!std::isnan(above)) values.push_back(above);
  }
  return with_interval(values, /*is_median=*/false);
}

}  // namespace hum::eval
