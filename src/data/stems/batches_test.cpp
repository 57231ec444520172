#include "data/stems/batches.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/stems/roles.h"
#include "data/stems/testing_impl.h"

namespace hum::data {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kWindows = 6, kSamples = 20000, kBatch = 8;

class StemBatches : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new ScratchFolder;
    MakeStemsOptions options{
        .material = testing::small_options(), .count = kWindows, .windows_per_shard = 3};
    options.material.seconds = 1;
    make_stems(scratch_->path(), options, testing::small_bands());
  }
  static void TearDownTestSuite() {
    delete scratch_;
    scratch_ = nullptr;
  }
  static StemBatch drawn(const StemMaterial& material, uint64_t seed, int64_t step) {
    return stem_batch(material, ItemOrder(0, kWindows, seed), seed, step, kBatch, kSamples);
  }

  static inline ScratchFolder* scratch_ = nullptr;
};

TEST_F(StemBatches, AddUpToTheirMixtures) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, 0, kWindows);
  constexpr auto kRow = static_cast<size_t>(2 * kSamples);
  float loudest = 0;
  for (int64_t step = 0; step < 4; ++step) {
    const StemBatch batch = drawn(material, 1, step);
    ASSERT_EQ(batch.mixture.size(), kBatch * kRow);
    ASSERT_EQ(batch.stems.size(), kBatch * kStemCount * kRow);
    for (size_t b = 0; b < kBatch; ++b) {
      for (size_t i = 0; i < kRow; ++i) {
        float sum = 0;
        for (size_t s = 0; s < kStemCount; ++s) sum += batch.stems[(b * kStemCount + s) * kRow + i];
        ASSERT_EQ(sum, batch.mixture[b * kRow + i]);
        loudest = std::max(loudest, std::fabs(sum));
      }
    }
  }
  EXPECT_LE(loudest, 1.0001);
  EXPECT_GT(loudest, 0.3);
}

TEST_F(StemBatches, DependOnSeedAndStepAlone) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, 0, kWindows);
  EXPECT_EQ(drawn(material, 1, 5).stems, drawn(material, 1, 5).stems);
  EXPECT_NE(drawn(material, 1, 5).stems, drawn(material, 1, 6).stems);
  EXPECT_NE(drawn(material, 1, 5).stems, drawn(material, 2, 5).stems);
}

TEST_F(StemBatches, LeaveOutAboutAThirdOfEachStem) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, 0, kWindows);
  std::array<int, kStemCount> absent = {};
  constexpr int kSteps = 40;
  for (int64_t step = 0; step < kSteps; ++step) {
    const StemBatch batch = stem_batch(material, ItemOrder(0, kWindows, 1), 1, step, kBatch, 3000);
    for (size_t row = 0; row < kBatch * kStemCount; ++row) {
      const auto sound = std::span(batch.stems).subspan(row * 6000, 6000);
      const bool is_silent = std::ranges::all_of(sound, [](float x) { return x == 0; });
      absent[row % kStemCount] += is_silent ? 1 : 0;
    }
  }
  for (const Stem stem : kStems) {
    const double share = absent[static_cast<size_t>(stem)] / static_cast<double>(kSteps * kBatch);
    EXPECT_GE(share, 0.2) << to_name(stem);
    EXPECT_LE(share, 0.45) << to_name(stem);
  }
}

TEST_F(StemBatches, CropsThatAreTooLongAreRefused) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, 0, kWindows);
  EXPECT_THAT(hum::testing::message_of(
                  [&] { stem_batch(material, ItemOrder(0, kWindows, 1), 1, 0, 1, kStemRate + 1); }),
              HasSubstr("longer than the windows"));
}

TEST(StemAbsence, GivesEveryStemItsShare) {
  const StemShares silent = {0, 0.1, 0.55, 0.6, 0.3, 0.9};
  const StemAbsence absence = absence_for(silent);
  for (size_t s = 0; s < kStemCount; ++s) {
    const double in_songs = silent[s] + (1 - silent[s]) * absence.dropped[s];
    const double absent =
        kCoherentShare * in_songs + (1 - kCoherentShare) * absence.absent_in_mix[s];
    EXPECT_NEAR(absent, silent[s] > 0.8 ? 0.45 : 0.3, 1e-9) << s;
  }
}

}  // namespace
}  // namespace hum::data
