// All figures of a song's stems, their floors and ceilings, and figures over songs.
#include "eval/separation/judge.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/testing/rule.h"
#include "eval/separation/masks.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;

constexpr int kRateHz = 8000;
constexpr size_t kFrames = 24000;

AudioBuffer ruled_sound(const std::string& name, double level) {
  return {kRateHz, 1, hum::testing::ruled(name, kFrames, -level, level)};
}

// Drums, vocals that are silent in the second second, and bass that is silent. The estimates hold a
// share of the other stems.
SeparatedSong song_of(const std::string& name, float share) {
  SeparatedSong song{.name = name, .stems = {"drums", "vocals", "bass"}};
  song.references = {ruled_sound(name + " drums", 0.3), ruled_sound(name + " vocals", 0.2),
                     ruled_sound("none", 0)};
  auto& vocals = song.references[1].samples;
  std::fill(vocals.begin() + kRateHz, vocals.begin() + 2 * kRateHz, 0.0F);
  song.mixture = sum_of(song.references);
  song.estimates = song.references;
  for (size_t stem = 0; stem < 3; ++stem) {
    for (size_t i = 0; i < kFrames; ++i) {
      float& sample = song.estimates[stem].samples[i];
      sample += share * (song.mixture.samples[i] - sample);
    }
  }
  return song;
}

double value_of(const SongScores& scores, const char* row, size_t stem, const char* figure) {
  return scores.values[stem_row(row)][stem][stem_figure(figure)];
}

TEST(Judge, KnowsTheEstimatesBesideFloorsAndCeilings) {
  const SongScores scores = judge_song(song_of("song", 0.1F), /*bss=*/true, 2);
  const double sdr = value_of(scores, "estimates", 0, "sdr");
  // The others have two thirds of a third of the energy, a hundredth of which is left.
  EXPECT_NEAR(sdr, 20 + 10 * std::log10(0.09 / 0.04 * 1.5), 0.3);
  EXPECT_NEAR(value_of(scores, "estimates", 0, "bleed_db"), -20, 0.1);
  EXPECT_NEAR(value_of(scores, "mixture", 0, "bleed_db"), 0, 1e-3);
  EXPECT_NEAR(value_of(scores, "mixture", 0, "si_sdri"), 0, 1e-6);
  // In the frames in which all stems sound.
  EXPECT_NEAR(value_of(scores, "estimates", 0, "sir"), sdr + 10 * std::log10(2.0 / 3), 0.5);
  EXPECT_EQ(value_of(scores, "silence", 0, "sdr"), 0);
  EXPECT_TRUE(std::isnan(value_of(scores, "silence", 0, "si_sdri")));
  EXPECT_TRUE(std::isnan(value_of(scores, "silence", 0, "bss_sdr")));
  EXPECT_LT(value_of(scores, "mixture", 0, "sdr"), value_of(scores, "best gain", 0, "sdr"));
  for (const char* ceiling : {"IBM", "IRM", "IRM, one mask", "MWF"}) {
    EXPECT_GT(value_of(scores, ceiling, 0, "sdr"), value_of(scores, "best gain", 0, "sdr"));
  }
  EXPECT_EQ(scores.frames[0].sdr.size(), 3U);
}

TEST(Judge, MeasuresSilentStemsByTheirLevelAlone) {
  const SongScores scores = judge_song(song_of("song", 0.1F), /*bss=*/false, 1);
  for (const char* figure : {"sdr", "si_sdri", "sir", "bleed_db"}) {
    EXPECT_TRUE(std::isnan(value_of(scores, "estimates", 2, figure))) << figure;
  }
  // Drums and vocals at a tenth.
  EXPECT_NEAR(value_of(scores, "estimates", 2, "silence_dbfs"),
              -20 + 10 * std::log10(0.09 / 3 + 0.04 / 3 * 2 / 3), 0.1);
  EXPECT_NEAR(value_of(scores, "estimates", 1, "silence_dbfs"), -20 + 10 * std::log10(0.09 / 3),
              0.1);
  EXPECT_EQ(value_of(scores, "silence", 2, "silence_dbfs"), -120);
  EXPECT_TRUE(std::isnan(value_of(scores, "estimates", 0, "silence_dbfs")));
  EXPECT_TRUE(std::isnan(value_of(scores, "estimates", 0, "bss_sdr")));
  EXPECT_FALSE(std::isfinite(scores.levels_dbfs[2]));
}

// All songs but one have the stem, and the floor is worse in each of them.
TEST(Judge, GivesIntervalsOverSongs) {
  std::vector<SongScores> songs;
  for (const float share : {0.02F, 0.05F, 0.1F, 0.2F, 0.5F}) {
    songs.push_back(judge_song(song_of(fmt::format("song {}", share), share), false, 1));
  }
  songs.back().stems[0] = "percussion";
  const size_t row = stem_row("estimates"), sdr = stem_figure("sdr");
  const SongsFigure figure = over_songs(songs, "drums", row, sdr);
  EXPECT_EQ(figure.songs, 4);
  EXPECT_LT(figure.interval.low, figure.interval.value);
  EXPECT_GT(figure.interval.high, figure.interval.value);
  double mean = 0;
  for (size_t i = 0; i < 4; ++i) mean += songs[i].values[row][0][sdr] / 4;
  EXPECT_NEAR(figure.interval.value, mean, 1e-9);
  EXPECT_EQ(over_songs(songs, "bass", row, sdr).songs, 0);
  EXPECT_TRUE(std::isnan(over_songs(songs, "bass", row, sdr).interval.value));
  const size_t silence = stem_figure("silence_dbfs");
  EXPECT_EQ(over_songs(songs, "bass", row, silence).interval.value,
            songs[2].values[row][2][silence]);  // the median
  const SongsFigure above = above_row(songs, "drums", row, stem_row("best gain"), sdr);
  EXPECT_GT(above.interval.low, 0);
  EXPECT_EQ(above.songs, 4);
}

TEST(Judge, OfACopyIsLimited) {
  SeparatedSong song = song_of("song", 0);
  const SongScores scores = judge_song(song, /*bss=*/false, 1);
  EXPECT_EQ(value_of(scores, "estimates", 0, "sdr"), 120);
  song.estimates.pop_back();
  EXPECT_THROW(judge_song(song, false, 1), Error);
}

}  // namespace
}  // namespace hum::eval
