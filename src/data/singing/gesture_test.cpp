// How notes are sung, measured on the pitch against the labels.
#include "data/singing/gesture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/singing/testing_impl.h"
#include "data/synthesis/level.h"
#include "data/synthesis/sung_note.h"

namespace hum::data {
namespace {

using testing::performed;
using testing::semitones;
using testing::steady;

double value_at(const std::vector<float>& curve, double time_s) {
  return curve[static_cast<size_t>(std::lround(time_s * kSampleRate / kControlSamples))];
}
double pitch_at(const Performance& performance, double time_s) {
  return semitones(value_at(performance.hz, time_s));
}

// How far the pitch has come at the onset of note i, as a share of its interval.
double share_at_onset(const Performance& performance, size_t i, double later_s = 0) {
  const double from = semitones(performance.notes[i - 1].hz);
  const double to = semitones(performance.notes[i].hz);
  return (pitch_at(performance, performance.notes[i].start_s + later_s) - from) / (to - from);
}

TEST(Performance, ScoopsVaryInLengthDepthAndShape) {
  Singer singer = steady();
  singer.scoop_share = 1;
  double shortest_s = 1, longest_s = 0, least = 9, most = 0;
  int early = 0, late = 0, above = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto result = performed({{.start_s = 0.5, .end_s = 1.5, .pitch = 57}}, singer, 3, seed);
    EXPECT_NEAR(result.notes[0].start_s, 0.5, 0.006) << "the scoop belongs to the note";
    EXPECT_NEAR(semitones(result.notes[0].hz), 57, 0.05);
    const double depth = 57 - pitch_at(result, 0.5);
    if (depth < 0) {
      ++above;
      EXPECT_GE(depth, -1.5);
      continue;
    }
    const auto time_of = [&](double share) {
      double time_s = 0.5;
      while (pitch_at(result, time_s) < 57 - (1 - share) * depth) time_s += 0.001;
      return time_s - 0.5;
    };
    const double whole_s = time_of(0.9), half_s = time_of(0.5);
    early += half_s < 0.47 * whole_s ? 1 : 0;
    late += half_s > 0.68 * whole_s ? 1 : 0;
    shortest_s = std::min(shortest_s, whole_s);
    longest_s = std::max(longest_s, whole_s);
    least = std::min(least, depth);
    most = std::max(most, depth);
  }
  EXPECT_LT(shortest_s, 0.05);
  EXPECT_GT(longest_s, 0.25);
  EXPECT_LE(longest_s, 0.401);
  EXPECT_GE(least, 0.45);
  EXPECT_LT(least, 0.9);
  EXPECT_GT(most, 2.5);
  EXPECT_LE(most, 3);
  EXPECT_GT(above, 2);
  EXPECT_LT(above, 20);
  EXPECT_GT(early, 5);
  EXPECT_GT(late, 5);
}

TEST(Performance, AHeldScoopStaysLowBeforeItRises) {
  Singer singer = steady();
  singer.scoop_share = singer.held_scoop_share = 1;
  int long_ones = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto result = performed({{.start_s = 0.5, .end_s = 1.5, .pitch = 57}}, singer, 3, seed);
    ASSERT_EQ(result.notes.size(), 1U);
    EXPECT_NEAR(result.notes[0].start_s, 0.5, 0.006);
    EXPECT_NEAR(semitones(result.notes[0].hz), 57, 0.05);
    const double held = pitch_at(result, 0.5);
    double time_s = 0.5;
    while (std::abs(pitch_at(result, time_s) - held) < 0.01) time_s += 0.003;
    EXPECT_LE(time_s, 0.5 + 0.8 * 0.4 + 0.003);
    long_ones += time_s > 0.58 ? 1 : 0;
  }
  EXPECT_GT(long_ones, 10);
}

TEST(Performance, ALevelThatWaversOrDipsWithinANoteBeginsNoOther) {
  int dips = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Singer singer = steady();
    singer.waver_db = seed % 2 == 0 ? 1.7 : 0;
    const auto result = performed({{.start_s = 0.5, .end_s = 2.5, .pitch = 57}}, singer, 3, seed);
    ASSERT_EQ(result.notes.size(), 1U);
    const auto from = static_cast<size_t>(0.6 * kSampleRate / kControlSamples);
    const auto to = static_cast<size_t>(2.4 * kSampleRate / kControlSamples);
    // A short window takes out the swell of the whole note.
    constexpr size_t kReach = 35;  // 0.1 s
    double longest_s = 0, below_s = 0;
    for (size_t i = from + kReach; i + kReach < to; ++i) {
      const auto at = result.level.begin() + static_cast<int64_t>(i);
      const double around =
          std::min(*std::max_element(at - kReach, at), *std::max_element(at, at + kReach));
      below_s =
          *at < 0.5 * around ? below_s + static_cast<double>(kControlSamples) / kSampleRate : 0;
      longest_s = std::max(longest_s, below_s);
    }
    EXPECT_LT(longest_s, kRepeatDip_s) << seed;
    const auto [least, most] =
        std::minmax_element(result.level.begin() + static_cast<int64_t>(from),
                            result.level.begin() + static_cast<int64_t>(to));
    dips += *least < 0.8 * *most ? 1 : 0;
  }
  EXPECT_GT(dips, 50);
}

TEST(Performance, ScoopsFollowConsonantsWithoutAJump) {
  Singer singer = steady();
  singer.scoop_share = 1;
  singer.glide_s = 0.16;
  for (const Join join : {Join::kStop, Join::kFricative, Join::kDip}) {
    int scoops = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto result = performed({{.start_s = 0.2, .end_s = 0.96, .pitch = 57},
                                     {.start_s = 1.08,
                                      .end_s = 2,
                                      .pitch = 60,
                                      .join = join,
                                      .consonant_s = 0.12,
                                      .dip_db = 20}},
                                    singer, 3, seed);
      EXPECT_NEAR(result.notes[1].start_s, 1.085, 0.02);
      EXPECT_NEAR(semitones(result.notes[1].hz), 60, 0.05);
      scoops += std::abs(pitch_at(result, result.notes[1].start_s) - 60) > 0.3 ? 1 : 0;
      if (join != Join::kDip) continue;  // the others are silent in between
      for (double time_s = 0.8; time_s < 1.5; time_s += 0.003)
        EXPECT_LT(std::abs(pitch_at(result, time_s + 0.003) - pitch_at(result, time_s)), 1);
    }
    EXPECT_GE(scoops, 12) << static_cast<int>(join);
  }
}

TEST(Performance, ACreepingPitchSettlesWhereTheLabelIs) {
  Singer singer = steady();
  singer.creep_share = 1;
  int above = 0, below = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto result = performed({{.start_s = 0.5, .end_s = 1.5, .pitch = 57}}, singer, 3, seed);
    EXPECT_NEAR(semitones(result.notes[0].hz), 57, 0.1);
    EXPECT_NEAR(pitch_at(result, 1.25), 57, 0.01);
    const double off = pitch_at(result, 0.5) - 57;
    EXPECT_LE(std::abs(off), 0.601);
    if (std::abs(off) < 0.3) continue;
    (off > 0 ? above : below) += 1;
    EXPECT_GT(std::abs(pitch_at(result, 0.65) - 57), 0.05) << "slowly";
  }
  EXPECT_GE(above, 5);
  EXPECT_GE(below, 5);
}

TEST(Performance, ACreepAfterASlurLeavesTheOnsetHalfWay) {
  Singer singer = steady();
  singer.creep_share = 1;
  singer.glide_s = 0.15;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto result = performed({{.start_s = 0.2, .end_s = 1, .pitch = 57},
                                   {.start_s = 1, .end_s = 2, .pitch = 58, .join = Join::kSlur}},
                                  singer, 3, seed);
    EXPECT_NEAR(share_at_onset(result, 1), 0.5, 0.1) << seed;
  }
}

TEST(Song, MelismasHaveTheirShareOfTheSyllables) {
  Singer singer = steady();
  singer.legato = 0;
  for (const double share : {0.0, 0.3, 1.0}) {
    singer.melisma_share = share;
    int syllables = 0, melismas = 0;
    for (uint64_t index = 0; index < 40; ++index) {
      const auto song = plan_song(singer, 12, 7, index);
      for (size_t i = 0; i < song.size();) {
        size_t end = i + 1;
        while (end < song.size() && song[end].join == Join::kSlur) ++end;
        EXPECT_LE(end - i, 5U);
        if (song[end - 1].end_s - song[i].start_s > 0.3) {
          ++syllables;
          melismas += end > i + 1 ? 1 : 0;
        }
        i = end;
      }
    }
    EXPECT_GT(syllables, 300);
    EXPECT_NEAR(static_cast<double>(melismas) / syllables, share, 0.06);
  }
}

TEST(Performance, MelismasGlideQuicklyWithoutADip) {
  Singer singer = steady();
  singer.melisma_share = 1;
  singer.glide_s = 0.25;
  int notes = 0, quick = 0;
  for (uint64_t index = 0; index < 20; ++index) {
    const auto song = plan_song(singer, 8, 7, index);
    const auto result = performed(song, singer, 8.3, index);
    ASSERT_EQ(result.notes.size(), song.size());
    for (size_t i = 1; i < song.size(); ++i) {
      if (song[i].glide_s == 0) continue;
      ++notes;
      const double at_s = result.notes[i].start_s;
      EXPECT_NEAR(share_at_onset(result, i), 0.5, 0.35) << index << " " << at_s;
      quick += share_at_onset(result, i, -0.035) < 0.1 && share_at_onset(result, i, 0.035) > 0.9;
      const auto level = [&](double time_s) { return value_at(result.level, time_s); };
      EXPECT_GT(level(at_s), 0.5 * std::min(level(at_s - 0.03), level(at_s + 0.03)));
    }
  }
  EXPECT_GT(notes, 200);
  EXPECT_GT(quick, 0.98 * notes);
}

}  // namespace
}  // namespace hum::data
