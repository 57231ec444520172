#include "app/separation/stem_confidence.h"

#include <gmock/gmock.h>

#include <cmath>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using audio::tone;
using hum::testing::message_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Sounds = std::vector<std::vector<float>>;

constexpr int kRate = 44100;

StemCueMeter heard(const Sounds& stems, int channels = 1) {
  StemCueMeter meter(stems.size(), kRate, channels);
  meter.push(stems);
  return meter;
}

TEST(StemCueMeter, ToldApartByFrequencyStemsArePure) {
  const auto meter = heard({tone(440, 1, kRate), tone(3000, 1, kRate, 0.05)});
  EXPECT_GT(meter.cues(0)->purity_db, 30);
  EXPECT_GT(meter.cues(1)->purity_db, 30);
  EXPECT_NEAR(meter.cues(0)->level_db, 0, 0.1);
  EXPECT_NEAR(meter.cues(1)->level_db, -20, 0.1);
}

TEST(StemCueMeter, OwnsHalfOfWhatTwoStemsShare) {
  const auto sound = tone(440, 1, kRate);
  const auto meter = heard({sound, sound}, 2);
  for (const size_t stem : {0U, 1U}) {
    EXPECT_NEAR(meter.cues(stem)->purity_db, 10 * std::log10(2), 1e-3);
    EXPECT_NEAR(meter.cues(stem)->level_db, -10 * std::log10(2), 1e-3);
  }
}

TEST(StemCueMeter, HearsTheSameHoweverTheSoundComes) {
  const Sounds stems = {audio::test_signal(90000, kRate), tone(440, 2.1, kRate)};
  const auto once = heard({stems[0], {stems[1].begin(), stems[1].begin() + 90000}}, 2);
  StemCueMeter often(2, kRate, 2);
  for (size_t at = 0; at < 90000; at += 1000) {
    Sounds block;
    for (const auto& stem : stems) block.emplace_back(&stem[at], &stem[at] + 1000);
    often.push(block);
  }
  EXPECT_EQ(once.cues(0)->purity_db, often.cues(0)->purity_db);
  EXPECT_EQ(once.cues(1)->level_db, often.cues(1)->level_db);
}

TEST(StemCueMeter, KnowsNothingOfSilence) {
  const auto meter = heard({std::vector<float>(kRate), tone(440, 1, kRate)});
  EXPECT_FALSE(meter.cues(0));
  EXPECT_TRUE(meter.cues(1));
  EXPECT_FALSE(heard({tone(440, 0.01, kRate)}).cues(0)) << "too short to hear";
}

TEST(StemConfidence, IsALineThroughTheCues) {
  const StemConfidence line{.offset_db = 1, .per_purity = 2, .per_level = 0.5, .error_db = 3};
  EXPECT_DOUBLE_EQ(line.sdr_db({.purity_db = 4, .level_db = -6}), 1 + 8 - 3);
  EXPECT_EQ(confidence_json(line, {4, -6}), Json({{"sdr_db", 6.0}, {"error_db", 3.0}}));
}

TEST(StemConfidence, IsReadForTheMakerOfTheVocals) {
  const ScratchFolder folder;
  const auto read = [&](const char* vocals) { return read_confidence(folder.path(), vocals); };
  EXPECT_THAT(read("own"), IsEmpty()) << "no file";
  StemConfidence line{.offset_db = 1, .per_purity = 2, .per_level = 0.5, .error_db = 3};
  write_json(folder.path() / "confidence.json", {{"own", {{"bass", to_json(line)}}}});
  EXPECT_EQ(read("own").at("bass").per_purity, 2);
  EXPECT_THAT(read("spleeter"), IsEmpty());
  write_file(folder.path() / "confidence.json", R"({"own": {"bass": {"slope": 1}}})");
  EXPECT_THAT(message_of([&] { read("own"); }), HasSubstr("unknown field 'slope'"));
  EXPECT_THAT(message_of([&] { read("own"); }), HasSubstr("confidence.json"));
}

}  // namespace
}  // namespace hum::app
