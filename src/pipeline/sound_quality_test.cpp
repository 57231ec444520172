#include "pipeline/sound_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Tune {
  std::vector<float> samples;
  std::vector<audio::Note> notes;
};

// Six notes of half a second with pauses of half a second, that decay by 60 dB in `decay_s`, in
// white noise `noise_db` below them.
Tune tune(double decay_s, double noise_db) {
  Tune result;
  constexpr double kNote_s = 0.5, kHz = 220;
  Rng rng(1, "sound quality");
  const double noise = std::sqrt(0.5) * std::pow(10, noise_db / 20);
  for (int n = 0; n < 6; ++n) {
    const double start_s = n * 2 * kNote_s;
    result.notes.push_back({.start_s = start_s, .end_s = start_s + kNote_s, .pitch = 57});
  }
  const int64_t size = data::sample_of(6 * 2 * kNote_s);
  for (int64_t i = 0; i < size; ++i) {
    const double t = static_cast<double>(i) / data::kSampleRate;
    const double in_note = std::fmod(t, 2 * kNote_s);
    const double level = in_note < kNote_s ? 1 : std::pow(10, -3 * (in_note - kNote_s) / decay_s);
    result.samples.push_back(static_cast<float>(level * std::sin(2 * std::numbers::pi * kHz * t) +
                                                noise * rng.normal()));
  }
  return result;
}

std::vector<std::string> warnings_of(const Tune& tune) {
  return quality_warnings(sound_quality(tune.samples, tune.notes));
}

TEST(SoundQuality, MeasuresTheNoiseBetweenNotes) {
  for (const double level_db : {10.0, 25.0, 50.0}) {
    const Tune noisy = tune(0.05, -level_db);
    const auto quality = sound_quality(noisy.samples, noisy.notes);
    ASSERT_TRUE(quality.signal_to_noise_db.has_value());
    // The floor is the lower fifth of the noise's frames.
    EXPECT_NEAR(*quality.signal_to_noise_db, level_db, 1.5);
  }
}

TEST(SoundQuality, MeasuresTheRoomsDecay) {
  for (const double decay_s : {0.5, 1.0, 1.5}) {
    const Tune echoing = tune(decay_s, -70);
    const auto quality = sound_quality(echoing.samples, echoing.notes);
    ASSERT_TRUE(quality.reverberation_s.has_value());
    EXPECT_NEAR(*quality.reverberation_s, decay_s, 0.2 * decay_s);
  }
}

TEST(SoundQuality, WarnsOfWhatIsWrongAlone) {
  EXPECT_THAT(warnings_of(tune(0.05, -40)), IsEmpty());
  EXPECT_THAT(warnings_of(tune(0.05, -10)), ElementsAre(HasSubstr("is noisy")));
  EXPECT_THAT(warnings_of(tune(1.2, -60)), ElementsAre(HasSubstr("echoes for 1.")));
}

TEST(SoundQuality, SaysNothingOfWhatItCannotMeasure) {
  Tune silent_pauses = tune(0.05, -200);
  EXPECT_FALSE(sound_quality(silent_pauses.samples, silent_pauses.notes).signal_to_noise_db);
  EXPECT_THAT(warnings_of(silent_pauses), IsEmpty());
  const Tune one = {silent_pauses.samples, {silent_pauses.notes.front()}};
  EXPECT_FALSE(sound_quality(one.samples, one.notes).reverberation_s);
  EXPECT_THAT(warnings_of({{}, {}}), IsEmpty());
}

}  // namespace
}  // namespace hum::pipeline
