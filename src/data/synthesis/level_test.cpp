#include "data/synthesis/level.h"

#include <gtest/gtest.h>

#include "data/synthesis/hum_voice.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

// A sine of `level` over each note.
std::vector<float> tones(std::span<const audio::Note> notes, std::span<const double> levels) {
  std::vector<float> samples(size_t{3} * kSampleRate);
  for (size_t k = 0; k < notes.size(); ++k) {
    for (int64_t i = sample_of(notes[k].start_s); i < sample_of(notes[k].end_s); ++i) {
      samples[i] = static_cast<float>(levels[k] * std::sin(0.06 * static_cast<double>(i)));
    }
  }
  return samples;
}

TEST(VelocityFromRms, GivesTwentyDecibelsEightySteps) {
  const std::vector<audio::Note> notes = {
      {0, 0.9, 60, 0.1, {}}, {1, 1.9, 60, 0.9, {}}, {2, 2.9, 60, 0.5, {}}};
  const std::vector<double> levels = {0.1, 0.1 * std::pow(10, 0.25), 0.1 * std::pow(10, -0.4)};
  const auto result = velocity_from_rms(tones(notes, levels), notes);
  EXPECT_NEAR(result[0].amplitude * 127, 80, 0.1);
  EXPECT_NEAR(result[1].amplitude * 127, 100, 0.1);
  EXPECT_NEAR(result[2].amplitude * 127, 48, 0.1);
}

TEST(VelocityFromRms, IsBoundedAndIgnoresTheOverallLevel) {
  const std::vector<audio::Note> notes = {
      {0, 0.9, 60, 0.1, {}}, {1, 1.9, 60, 0.9, {}}, {2, 2.9, 60, 0.5, {}}};
  auto samples = tones(notes, std::vector<double>{0.01, 1, 1e-5});
  const auto result = velocity_from_rms(samples, notes);
  EXPECT_NEAR(result[1].amplitude * 127, 120, 1e-9);
  EXPECT_NEAR(result[2].amplitude * 127, 40, 1e-9);
  for (float& sample : samples) sample *= 0.5F;
  EXPECT_NEAR(velocity_from_rms(samples, notes)[0].amplitude, result[0].amplitude, 1e-6);
  EXPECT_TRUE(velocity_from_rms(samples, {}).empty());
  const std::vector<audio::Note> outside = {{9, 10, 60, 0.5, {}}};
  EXPECT_NEAR(velocity_from_rms(samples, outside)[0].amplitude * 127, 80, 1e-9);
}

TEST(VelocityFromRms, ReadsBackTheDynamicsOfASyntheticHum) {
  double error = 0;
  int count = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    auto notes = make_melody(8, i, find_preset("cello"), {.expressive_share = 0}).notes;
    const int shift = octave_shift(notes, kHumLow, kHumHigh);
    for (auto& note : notes) note.pitch += shift;
    const auto result = velocity_from_rms(render_hum(notes, 6, 8, i), notes);
    for (size_t k = 0; k < notes.size(); ++k, ++count) {
      error += 127 * std::fabs(result[k].amplitude - notes[k].amplitude);
    }
  }
  EXPECT_LT(error / count, 12) << "3 dB";
}

TEST(NormaliseLevel, BringsClipsToOneLevelWhateverTheirRests) {
  const std::vector<audio::Note> sparse = {{0, 0.4, 60, 0.5, {}}};
  const std::vector<audio::Note> dense = {{0, 2.9, 60, 0.1, {}}};
  auto a = tones(sparse, std::vector<double>{0.5});
  auto b = tones(dense, std::vector<double>{0.01});
  normalise_level(a);
  normalise_level(b);
  EXPECT_NEAR(testing::rms(testing::between(a, 0, 0.4)), kTargetRms, 1e-3);
  EXPECT_NEAR(testing::rms(testing::between(b, 0, 2.9)), kTargetRms, 1e-3);
}

TEST(NormaliseLevel, GivesSeveralChannelsOneGain) {
  const auto one = tones(std::vector<audio::Note>{{0, 2.9, 60, 0.1, {}}}, std::vector<double>{0.3});
  std::vector<float> equal, left_alone, mono = one;
  for (const float sample : one) {
    equal.insert(equal.end(), {sample, sample});
    left_alone.insert(left_alone.end(), {sample, 0});
  }
  const double gain = normalise_level(mono);
  EXPECT_NEAR(normalise_level(equal, 2), gain, 1e-6 * gain);
  EXPECT_NEAR(normalise_level(left_alone, 2), std::sqrt(2) * gain, 1e-6 * gain);
  EXPECT_NEAR(active_rms(left_alone, 2), kTargetRms, 1e-6);
}

TEST(NormaliseLevel, KeepsPeaksBelowFullScaleAndSilenceSilent) {
  std::vector<float> click(kSampleRate);
  for (int i = 0; i < kFrameSamples; i += 100) click[i] = 0.5F;
  normalise_level(click);
  EXPECT_LE(*std::ranges::max_element(click), kPeakLimit + 1e-6);
  std::vector<float> silence(1000);
  EXPECT_EQ(normalise_level(silence), 1);
}

}  // namespace
}  // namespace hum::data
