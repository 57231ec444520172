// The bands of a sound, and their correction from one sound to another that plays the same.
#include "models/humming/equaliser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/rng.h"
#include "models/humming/config.h"
#include "models/humming/testing_impl.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kFrames = 100, kFrameSamples = 441;
constexpr size_t kFeatures = kAllMelodyFeatures;

std::vector<float> noise(float gain) {
  Rng rng(7, "equaliser");
  std::vector<float> samples;
  for (int64_t i = 0; i < kFrames * kFrameSamples; ++i) {
    samples.push_back(gain * static_cast<float>(rng.uniform(-1, 1)));
  }
  return samples;
}

// The mean of each sample and the one before: 0 dB at 0 Hz, less and less above.
std::vector<float> muffled(std::vector<float> samples) {
  float before = 0;
  for (float& sample : samples) {
    const float mean = (sample + before) / 2;
    before = sample;
    sample = mean;
  }
  return samples;
}

float count_feature(size_t n) {
  return std::min(1.0F, std::log1p(static_cast<float>(n)) / std::log1p(50.0F));
}

// One note of all frames, at this pitch. Or a rest: this many frames after a note, if not 0.
std::vector<float> note(float pitch, size_t since_end = 0) {
  const bool sounds = since_end == 0;
  std::vector<float> melody(static_cast<size_t>(kFrames) * kFeatures);
  for (size_t t = 0; t < static_cast<size_t>(kFrames); ++t) {
    float* row = &melody[t * kFeatures];
    row[kMelodyPitch] = (pitch - 64) / 32;
    row[kMelodySounding] = sounds ? 1 : 0;
    row[kMelodySinceEnd] = count_feature(since_end);
    row[kMelodyOnset] = sounds && t == 0 ? 1 : 0;
    row[kMelodySinceOnset] = count_feature(t);
    row[kMelodyLongSinceOnset] = static_cast<float>(t) / kMelodyLongCountFrames;
  }
  return melody;
}

// Mean |difference| of the bands, in dB.
double distance_db(const std::vector<float>& a, const std::vector<float>& b) {
  const auto levels = band_levels(a), others = band_levels(b);
  double sum = 0;
  for (size_t i = 0; i < levels.size(); ++i) sum += std::abs(levels[i] - others[i]);
  return sum / static_cast<double>(levels.size());
}

BandCorrection correction_between(const std::vector<float>& truth,
                                  const std::vector<float>& played) {
  return {truth, played, note(60), std::vector<uint8_t>(kFrames, 1)};
}

TEST(Equaliser, FindsTheBandOfASine) {
  std::vector<float> sine;
  for (int64_t i = 0; i < kFrames * kFrameSamples; ++i) {
    sine.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * 1000 * i / 22050.0)));
  }
  const auto levels = band_levels(sine);
  ASSERT_EQ(std::ssize(levels), kFrames * kBands);
  const auto row = std::span(levels).subspan(50 * kBands, kBands);
  const auto loudest = std::ranges::max_element(row);
  // Slaney's scale: 15 mel at 1000 Hz, 50.2 mel at 11,025 Hz.
  EXPECT_NEAR(static_cast<double>(loudest - row.begin()) + 1, 15 / 50.2 * (kBands + 1), 1);
  EXPECT_NEAR(*loudest - std::ranges::min(row), 80, 1);
}

TEST(Equaliser, SilenceHasOneLevel) {
  const auto levels = band_levels(std::vector<float>(kFrames * kFrameSamples));
  EXPECT_EQ(std::ranges::min(levels), std::ranges::max(levels));
}

TEST(Equaliser, BringsASoundToItsReference) {
  const auto truth = noise(0.2F), played = muffled(truth);
  ASSERT_GT(distance_db(truth, played), 1.5);
  auto corrected = played;
  correct_bands(corrected, note(60), correction_between(truth, played), 1);
  ASSERT_EQ(corrected.size(), played.size());
  EXPECT_LT(distance_db(truth, corrected), 0.35 * distance_db(truth, played));
}

TEST(Equaliser, AddsAShare) {
  const auto truth = noise(0.2F), played = muffled(truth);
  const auto correction = correction_between(truth, played);
  auto none = played, half = played;
  correct_bands(none, note(60), correction, 0);
  correct_bands(half, note(60), correction, 0.5);
  EXPECT_LT(distance_db(none, played), 1e-3);
  const double whole_db = distance_db(truth, played), half_db = distance_db(truth, half);
  EXPECT_GT(half_db, 0.4 * whole_db);
  EXPECT_LT(half_db, 0.75 * whole_db);
}

TEST(Equaliser, BandsMoveWithThePitch) {
  std::vector<double> bands(kBands);
  bands[7] = 10;  // 546 Hz
  const auto loudest = [](const std::vector<double>& x) {
    return std::ranges::max_element(x) - x.begin();
  };
  EXPECT_EQ(moved_bands(bands, 0), bands);
  EXPECT_EQ(loudest(moved_bands(bands, 12)), 15);  // 1,093 Hz
  EXPECT_EQ(loudest(moved_bands(bands, -12)), 3);  // 273 Hz
  EXPECT_EQ(moved_bands(std::vector<double>(kBands, 4), 24), std::vector<double>(kBands, 4));
}

// A note of a clip tells how its harmonics sound at any pitch.
TEST(Equaliser, FollowsThePitch) {
  const auto truth = noise(0.2F), played = muffled(truth);
  const auto correction =
      correction_between(truth, played);  // of a note at 60: the more the higher
  const auto raised_db = [&](float pitch) {
    auto corrected = played;
    correct_bands(corrected, note(pitch), correction, 1);
    const auto levels = band_levels(corrected), before = band_levels(played);
    std::vector<double> raised(kBands);
    for (size_t i = 0; i < levels.size(); ++i) {
      raised[i % kBands] += (levels[i] - before[i]) / static_cast<double>(kFrames);
    }
    return raised;
  };
  const auto at_clip = raised_db(60), above = raised_db(72);
  EXPECT_GT(at_clip[40], at_clip[30] + 1);
  const auto moved = moved_bands(at_clip, 12);
  for (const size_t band : {20, 30, 40, 45}) EXPECT_NEAR(above[band], moved[band], 0.3) << band;
}

// A clip's rests have the noise of its room.
TEST(Equaliser, MakesRestsOnlyQuieter) {
  const auto loud = noise(0.5F), quiet = noise(0.25F);
  const std::vector<uint8_t> all(kFrames, 1);
  const auto corrected = [&](const std::vector<float>& truth, std::vector<float> played,
                             size_t since_end) {
    const auto rest = note(60, since_end);
    const BandCorrection correction(truth, played, rest, all);
    correct_bands(played, rest, correction, 1);
    return played;
  };
  for (const size_t frames : {1, 20}) {
    EXPECT_LT(distance_db(corrected(loud, quiet, frames), quiet), 1e-3);
    EXPECT_LT(distance_db(corrected(quiet, loud, frames), quiet), 1);
  }
}

// A clip of one note and its release, 10 dB quieter than hum plays both, and then rests.
TEST(Equaliser, CorrectsAReleaseOnce) {
  constexpr size_t kNote = 40;
  std::vector<float> melody;
  add_note_rows(melody, 60, kNote);
  add_rest_rows(melody, 60, kNote, kFrames - kNote);
  const auto falling = [&](float gain) {
    auto samples = noise(gain);
    for (size_t i = kNote * kFrameSamples; i < samples.size(); ++i) samples[i] *= 0.3F;
    return samples;
  };
  const auto truth = falling(0.05F), played = falling(0.158F);
  const BandCorrection correction(truth, played, melody, std::vector<uint8_t>(kFrames, 1));
  const auto gains = correction.gains_db(melody, kFrames, 1);
  const auto gain_db = [&](size_t frame) { return gains[frame * kBands + kBands / 2]; };
  EXPECT_NEAR(gain_db(20), -10, 1);
  EXPECT_NEAR(gain_db(kNote + 5), -10, 1.5);
  // A rest fades by 30 dB a second after a quarter of a second.
  EXPECT_NEAR(gain_db(kFrames - 1) - gain_db(kFrames - 26), -15, 1);
  EXPECT_LT(gain_db(kFrames - 1), -30);
  const auto half = correction.gains_db(melody, kFrames, 0.5);
  EXPECT_NEAR(half[(kFrames - 1) * kBands], gains[(kFrames - 1) * kBands] / 2, 0.5);
}

TEST(Equaliser, RefusesOtherSizes) {
  const auto sound = noise(0.2F), melody = note(60);
  const auto correction = correction_between(sound, sound);
  auto samples = sound;
  EXPECT_THROW(correct_bands(samples, std::span(melody).first(kFeatures + 1), correction, 1),
               Error);
}

// A sound that falls by this many dB a second.
std::vector<float> dying(std::vector<float> samples, double db_per_s) {
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] *= static_cast<float>(std::pow(10, -db_per_s * static_cast<double>(i) / 22050 / 20));
  }
  return samples;
}

TEST(Equaliser, NotesDieAwayAsInTheReference) {
  const auto truth = dying(noise(0.2F), 12), played = dying(noise(0.2F), 20);
  auto corrected = played;
  correct_bands(corrected, note(60), correction_between(truth, played), 1);
  const auto fall_db = [](const std::vector<float>& samples, double from_s, double to_s) {
    const auto level = [&](double at_s) {
      const auto part = std::span(samples).subspan(static_cast<size_t>(at_s * 22050), 2205);
      double power = 0;
      for (const float x : part) power += x * x;
      return 10 * std::log10(power);
    };
    return level(from_s) - level(to_s);
  };
  for (const double from_s : {0.1, 0.4, 0.7}) {  // what is later: late_decay.h
    const double fall = fall_db(truth, from_s, from_s + 0.4);
    ASSERT_GT(fall_db(played, from_s, from_s + 0.4), fall + 2);
    EXPECT_NEAR(fall_db(corrected, from_s, from_s + 0.4), fall, 1) << from_s;
  }
}

TEST(Equaliser, LimitsItsGain) {
  const auto truth = noise(0.5F), played = noise(0.0005F);
  auto corrected = played;
  correct_bands(corrected, note(60), correction_between(truth, played), 1);
  const double ratio = std::abs(corrected[22050] / played[22050]);
  EXPECT_NEAR(20 * std::log10(ratio), kMaxBandGain_db, 0.1);
}

}  // namespace
}  // namespace hum::models::humming
