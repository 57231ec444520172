#include "data/synthesis/conditions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

std::vector<float> tone(double hz, double seconds = 2, double amplitude = 0.2) {
  std::vector<float> samples(static_cast<size_t>(sample_of(seconds)));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(
        amplitude * std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / kSampleRate));
  }
  return samples;
}

double rms(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += sample * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

std::vector<float> applied(const Conditions& conditions, const std::vector<float>& before,
                           std::span<const float> babble = {}) {
  Rng rng(1, "conditions");
  auto samples = before;
  apply(conditions, babble, rng, samples);
  return samples;
}

double db(double ratio) { return 20 * std::log10(ratio); }

TEST(Conditions, WithoutAnyNothingChanges) {
  const auto before = tone(220);
  EXPECT_EQ(applied({}, before), before);
}

TEST(Conditions, NoisesHaveTheirLevel) {
  const auto voice = tone(220), babble = tone(313);
  const Conditions kinds[] = {
      {.white_db = -20}, {.pink_db = -20}, {.babble_db = -20}, {.mains_db = -20}};
  for (const Conditions& conditions : kinds) {
    auto noise = applied(conditions, voice, babble);
    for (size_t i = 0; i < noise.size(); ++i) noise[i] -= voice[i];
    EXPECT_NEAR(db(rms(noise) / rms(voice)), -20, 0.5);
  }
}

TEST(Conditions, OfJudgedSoundsAreSmallRoomsAndQuietNoise) {
  Rng rng(7, "judged");
  int rooms = 0, noises = 0;
  for (int i = 0; i < 200; ++i) {
    const Conditions c = draw_judged_conditions(rng);
    EXPECT_LE(c.room_s, 0.4);
    EXPECT_LE(std::max(c.white_db, c.pink_db), -25);
    EXPECT_EQ(c.gain_db, 0);
    rooms += c.room_s > 0 ? 1 : 0;
    noises += c.white_db > Conditions::kAbsent ? 1 : 0;
  }
  EXPECT_NEAR(rooms, 120, 30);
  EXPECT_NEAR(noises, 100, 30);
}

TEST(Conditions, ARoomDecaysInItsTime) {
  for (const double room_s : {0.3, 1.0}) {
    Rng rng(3, "room");
    const auto response = draw_room(room_s, 3, rng);
    double rest = 0;
    for (size_t i = 1; i < response.size(); ++i) rest += response[i] * response[i];
    EXPECT_EQ(response[0], 1);
    EXPECT_NEAR(-10 * std::log10(rest), 3, 0.01);
    // The energy that is still to come (Schroeder 1965), between 0.2 and 0.6 of the time.
    const auto to_come = [&](double time_s) {
      double energy = 0;
      for (auto i = static_cast<size_t>(sample_of(time_s)); i < response.size(); ++i)
        energy += response[i] * response[i];
      return 10 * std::log10(energy);
    };
    const double fall_db = to_come(0.2 * room_s) - to_come(0.6 * room_s);
    EXPECT_NEAR(fall_db, 0.4 * 60, 6) << room_s;
  }
}

TEST(Conditions, AMicrophoneCutsItsBand) {
  const double low = rms(tone(100)), high = rms(tone(6000));
  EXPECT_LT(db(rms(applied({.low_cut_hz = 300}, tone(100))) / low), -15);
  EXPECT_LT(db(rms(applied({.high_cut_hz = 2000}, tone(6000))) / high), -15);
  EXPECT_NEAR(db(rms(applied({.low_cut_hz = 300}, tone(2000))) / rms(tone(2000))), 0, 0.5);
}

TEST(Conditions, ShelvesChangeTheirBandAndNothingElse) {
  const auto change_db = [](const Conditions& conditions, double hz) {
    return db(rms(applied(conditions, tone(hz))) / rms(tone(hz)));
  };
  for (const double gain_db : {-6.0, 6.0}) {
    EXPECT_NEAR(change_db({.bass_db = gain_db}, 40), gain_db, 0.2);
    EXPECT_NEAR(change_db({.bass_db = gain_db}, 250), gain_db / 2, 0.2);
    EXPECT_NEAR(change_db({.bass_db = gain_db}, 2000), 0, 0.2);
    EXPECT_NEAR(change_db({.treble_db = gain_db}, 9000), gain_db, 0.2);
    EXPECT_NEAR(change_db({.treble_db = gain_db}, 2500), gain_db / 2, 0.2);
    EXPECT_NEAR(change_db({.treble_db = gain_db}, 300), 0, 0.2);
  }
}

TEST(Conditions, ClippingAndGainDoWhatTheySay) {
  const auto clipped = applied({.clip_db = 6}, tone(220));
  EXPECT_NEAR(*std::ranges::max_element(clipped), 0.1, 0.001);
  EXPECT_NEAR(db(rms(applied({.gain_db = -12}, tone(220))) / rms(tone(220))), -12, 0.01);
}

TEST(Conditions, KnocksStayWithinTheirLevel) {
  for (const Conditions& conditions : {Conditions{.thumps_db = 0}, Conditions{.clicks_db = 0}}) {
    auto noise = applied(conditions, tone(220, 8));
    const auto voice = tone(220, 8);
    for (size_t i = 0; i < noise.size(); ++i) noise[i] -= voice[i];
    EXPECT_GT(*std::ranges::max_element(noise), 0.05);
    EXPECT_LT(*std::ranges::max_element(noise), 3 * 0.2 / std::numbers::sqrt2 + 0.01);
  }
}

TEST(Conditions, ACodecLosesSomethingAndMovesNothing) {
  const auto before = tone(310);
  for (const Conditions& conditions : {Conditions{.opus_kbps = 16}, Conditions{.mp3_kbps = 16}}) {
    const auto after = applied(conditions, before);
    ASSERT_EQ(after.size(), before.size());
    EXPECT_EQ(after, applied(conditions, before));
    EXPECT_NE(after, before);
    auto error = after;
    for (size_t i = 0; i < error.size(); ++i) error[i] -= before[i];
    EXPECT_LT(db(rms(error) / rms(before)), -12);  // MP3's delay gives +6 dB
  }
}

TEST(Conditions, OfTrainingAreOftenCleanAndNeverTheSame) {
  int clean = 0, rooms = 0, opus = 0, mp3 = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    Rng rng(5, "draw", i);
    const Conditions c = draw_conditions(rng);
    const bool noisy = c.white_db > Conditions::kAbsent || c.pink_db > Conditions::kAbsent;
    clean += !noisy && c.room_s == 0 && c.clip_db == 0 ? 1 : 0;
    rooms += c.room_s > 0 ? 1 : 0;
    opus += c.opus_kbps >= 8 && c.opus_kbps <= 32 ? 1 : 0;
    mp3 += c.mp3_kbps >= 16 && c.mp3_kbps <= 48 ? 1 : 0;
    EXPECT_TRUE(c.opus_kbps == 0 || c.mp3_kbps == 0);
    EXPECT_TRUE(c.room_s == 0 || (c.room_s >= 0.1 && c.room_s <= 1.5));
  }
  EXPECT_GT(clean, 90);
  EXPECT_LT(clean, 180);
  EXPECT_GT(rooms, 60);
  for (const int coded : {opus, mp3}) {
    EXPECT_GT(coded, 20);  // 38 on average
    EXPECT_LT(coded, 60);
  }
}

}  // namespace
}  // namespace hum::data
