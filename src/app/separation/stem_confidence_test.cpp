#include "app/separation/stem_confidence.h"

#include <gmock/gmock.h>

#include <cmath>

#include "audio/test_signal.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "models/testing.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

using audio::tone;
using ::testing::IsEmpty;
using Sounds = std::vector<std::vector<float>>;

constexpr int kRate = 44100;

StemCueMeter heard(const Sounds& stems, int channels = 1) {
  StemCueMeter meter(stems.size(), kRate, channels);
  meter.push(stems);
  return meter;
}

TEST(StemCueMeter, StemsOfDifferentFrequenciesArePure) {
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

const StemConfidence kLine{.offset_db = 1,
                           .per_purity = 2,
                           .per_level = 0.5,
                           .error_db = 3,
                           .least_purity_db = 2,
                           .most_purity_db = 9,
                           .least_level_db = -20,
                           .most_level_db = 0};

TEST(StemConfidence, IsLinearInTheCues) {
  EXPECT_DOUBLE_EQ(*kLine.sdr_db({.purity_db = 4, .level_db = -6}), 1 + 8 - 3);
  EXPECT_EQ(confidence_json(kLine, {4, -6}), Json({{"sdr_db", 6.0}, {"error_db", 3.0}}));
  EXPECT_TRUE(confidence_json(kLine, {4, -70}).is_null()) << "fitted to no such stem";
  EXPECT_FALSE(kLine.sdr_db({1, -6}) || kLine.sdr_db({10, -6}) || kLine.sdr_db({4, 1}));
}

class ConfidenceFile : public ::testing::Test {
 protected:
  ConfidenceFile() {
    models::write_tiny_separator(folder_.path());
    file_ = {{"version", kStemConfidenceVersion},
             {"weights_sha256", runtime::shards_sha256(separator())},
             {"own", {{"bass", {{"per_purity", 2}}}}}};
  }
  std::filesystem::path separator() const { return folder_.path() / "separator"; }
  StemConfidences read(const char* vocals) {
    write_json(separator() / "confidence.json", file_);
    return read_confidence(separator(), vocals);
  }

  ScratchFolder folder_;
  Json file_;
};

TEST_F(ConfidenceFile, IsReadForTheMakerOfTheVocals) {
  EXPECT_THAT(read_confidence(separator(), "own"), IsEmpty()) << "no file";
  EXPECT_EQ(read("own").at("bass").per_purity, 2);
  EXPECT_THAT(read("spleeter"), IsEmpty());
}

TEST_F(ConfidenceFile, OfOtherWeightsOrDamagedIsLeftAlone) {
  file_["weights_sha256"] = "another";
  EXPECT_THAT(read("own"), IsEmpty());
  file_["weights_sha256"] = runtime::shards_sha256(separator());
  file_["own"]["bass"]["slope"] = 1;
  EXPECT_THAT(read("own"), IsEmpty());
  file_ = Json::array();
  EXPECT_THAT(read("own"), IsEmpty());
  write_file(separator() / "confidence.json", "{");
  EXPECT_THAT(read_confidence(separator(), "own"), IsEmpty());
}

}  // namespace
}  // namespace hum::app
