#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/fields_json.h"
#include "data/singing/performance.h"
#include "data/singing/sung_item.h"
#include "data/singing/testing_impl.h"
#include "data/singing/voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

using testing::performed;
using testing::semitones;
using testing::steady;

TEST(Song, FollowsItsRules) {
  for (uint64_t index = 0; index < 200; ++index) {
    Rng rng(7, "singer", index);
    const Singer singer = draw_singer(rng);
    const auto song = plan_song(singer, 12, 7, index);
    for (size_t i = 0; i < song.size(); ++i) {
      EXPECT_GE(song[i].end_s - song[i].start_s, 0.0199) << index;
      EXPECT_LE(song[i].end_s, 12.001);
      EXPECT_GE(song[i].pitch, singer.low - 1);
      EXPECT_LE(song[i].pitch, singer.high + 1);
      if (i == 0) continue;
      EXPECT_LE(song[i - 1].end_s, song[i].start_s + 1e-9);
      const bool same_pitch = std::abs(song[i].pitch - song[i - 1].pitch) < 0.4;
      EXPECT_FALSE(same_pitch && song[i].join == Join::kSlur) << index;
    }
  }
}

TEST(Performance, ANoteBeginsAndEndsWithItsVoice) {
  const auto result = performed({{.start_s = 0.5, .end_s = 1.5, .pitch = 57}}, steady());
  ASSERT_EQ(result.notes.size(), 1U);
  const SungNote& note = result.notes[0];
  EXPECT_NEAR(note.start_s, 0.5, 0.005);
  EXPECT_NEAR(note.end_s, 1.5, 0.005);
  EXPECT_NEAR(semitones(note.hz), 57, 0.01);
}

TEST(Performance, ASlurredNoteBeginsHalfWayThroughTheGlide) {
  const auto result = performed({{.start_s = 0.2, .end_s = 1, .pitch = 57},
                                 {.start_s = 1, .end_s = 2, .pitch = 62, .join = Join::kSlur}},
                                steady());
  ASSERT_EQ(result.notes.size(), 2U);
  const double at_s = result.notes[1].start_s;
  EXPECT_EQ(result.notes[0].end_s, at_s);
  const auto point = static_cast<size_t>(std::lround(at_s * kSampleRate / kControlSamples));
  EXPECT_NEAR(semitones(result.hz[point]), 59.5, 0.35);
  EXPECT_NEAR(semitones(result.notes[0].hz), 57, 0.05);
  EXPECT_NEAR(semitones(result.notes[1].hz), 62, 0.05);
  EXPECT_GT(*std::min_element(result.level.begin() + static_cast<int64_t>(point) - 20,
                              result.level.begin() + static_cast<int64_t>(point) + 20),
            0.3);
}

TEST(Performance, ARepeatedNoteBeginsHalfWayUpFromTheDip) {
  const auto result = performed({{.start_s = 0.2, .end_s = 1, .pitch = 57},
                                 {.start_s = 1.08,
                                  .end_s = 2,
                                  .pitch = 57,
                                  .join = Join::kDip,
                                  .consonant_s = 0.08,
                                  .dip_db = 20}},
                                steady());
  ASSERT_EQ(result.notes.size(), 2U);
  const SungNote &first = result.notes[0], &second = result.notes[1];
  EXPECT_GT(second.start_s, 1.08);
  EXPECT_LT(second.start_s, 1.1);
  EXPECT_GT(first.end_s, 0.97);
  EXPECT_LT(first.end_s, 1);
  const auto level_at = [&](double time_s) {
    return result.level[static_cast<size_t>(time_s * kSampleRate / kControlSamples)];
  };
  EXPECT_NEAR(level_at(1.04), 0.1, 0.02);  // -20 dB
  EXPECT_NEAR(level_at(second.start_s), std::sqrt(0.1), 0.12);
}

TEST(Performance, VibratoAndScoopsDoNotMoveTheSungPitch) {
  Singer singer = steady();
  singer.vibrato_share = 1;
  singer.vibrato_cents = 100;
  singer.scoop_share = 1;
  const auto result = performed({{.start_s = 0.2, .end_s = 2.2, .pitch = 60}}, singer);
  EXPECT_NEAR(semitones(result.notes[0].hz), 60, 0.15);
  const auto [low, high] = std::ranges::minmax(result.hz);
  EXPECT_GT(semitones(high), 60.4);
  EXPECT_LT(semitones(low), 59.7);
}

class Voices : public ::testing::TestWithParam<VoiceKind> {};

TEST_P(Voices, SoundAtTheirPitch) {
  const double pitch = GetParam() == VoiceKind::kWhistle ? 84 : 57;
  const Singer singer = steady(GetParam());
  const auto result = performed({{.start_s = 0.1, .end_s = 1.4, .pitch = pitch}}, singer, 1.6);
  const auto sound = render_voice(result, singer, sample_of(1.5), 1, 2);
  const auto middle = std::span(sound).subspan(static_cast<size_t>(sample_of(0.5)), 8000);
  EXPECT_NEAR(testing::measured_pitch(middle), pitch, 0.05);
  EXPECT_NEAR(active_rms(sound), kTargetRms, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Voices, ::testing::ValuesIn(kVoiceKinds),
                         [](const auto& info) { return std::string(to_name(info.param)); });

TEST(SungItem, NotesAreWhereTheSoundIs) {
  int notes = 0, right = 0;
  for (uint64_t index = 0; index < 30; ++index) {
    const SungItem item = make_sung_item(3, index);
    EXPECT_EQ(item.samples.size(), static_cast<size_t>(sample_of(12)));
    for (size_t i = 0; i < item.notes.size(); ++i) {
      const SungNote& note = item.notes[i];
      EXPECT_LT(note.start_s, note.end_s);
      EXPECT_GE(note.start_s, i == 0 ? 0 : item.notes[i - 1].end_s - 1e-9);
      const auto frame =
          static_cast<size_t>((note.start_s + note.end_s) / 2 * kSampleRate / kPitchHop);
      EXPECT_GT(item.f0_hz[frame], 0) << index << " " << note.start_s;
      if (note.end_s - note.start_s < 0.5 || note.hz > 1500) continue;
      const auto from =
          static_cast<size_t>(sample_of(note.start_s + 0.3 * (note.end_s - note.start_s)));
      const double heard = testing::measured_pitch(std::span(item.samples).subspan(from, 4500));
      ++notes;
      right += std::abs(heard - audio::hz_to_midi(note.hz)) < 1 ? 1 : 0;  // vibrato moves it
    }
  }
  EXPECT_GT(notes, 100);
  EXPECT_GT(right, 0.9 * notes);
}

TEST(SungItem, IsAFunctionOfSeedAndIndex) {
  const SungItem a = make_sung_item(5, 11), b = make_sung_item(5, 11), c = make_sung_item(5, 12);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.f0_hz, b.f0_hz);
  EXPECT_NE(a.samples, c.samples);
}

TEST(SungItem, OneInTenHasNoVoice) {
  int silent = 0;
  for (uint64_t index = 0; index < 100; ++index) {
    const SungItem item = make_sung_item(9, index, {.seconds = 2});
    if (item.singer) continue;
    ++silent;
    EXPECT_TRUE(item.notes.empty());
    EXPECT_EQ(*std::ranges::max_element(item.f0_hz), 0);
  }
  EXPECT_GE(silent, 3);
  EXPECT_LE(silent, 20);
}

TEST(SungItem, PropertiesOfTheSingerCanBeFixedByName) {
  const SungItemOptions options{.silent_share = 0, .adjust = [](Singer& singer) {
                                  from_json(parse_json(R"({"low": 40, "high": 52})"), singer);
                                }};
  const SungItem item = make_sung_item(5, 11, options);
  ASSERT_TRUE(item.singer);
  EXPECT_EQ(item.singer->low, 40);
  EXPECT_EQ(item.singer->high, 52);
  EXPECT_EQ(item.singer->legato, make_sung_item(5, 11, {.silent_share = 0}).singer->legato);
  for (const SungNote& note : item.notes) EXPECT_LT(semitones(note.hz), 55);
  EXPECT_NE(item.notes, make_sung_item(5, 11, {.silent_share = 0}).notes);
}

}  // namespace
}  // namespace hum::data
