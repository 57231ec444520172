#include "data/stems/batches.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>

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
  const StemMaterial material(folder, split_by_song(folder, 0).windows, 0, kWindows);
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
  const StemMaterial material(folder, split_by_song(folder, 0).windows, 0, kWindows);
  EXPECT_EQ(drawn(material, 1, 5).stems, drawn(material, 1, 5).stems);
  EXPECT_NE(drawn(material, 1, 5).stems, drawn(material, 1, 6).stems);
  EXPECT_NE(drawn(material, 1, 5).stems, drawn(material, 2, 5).stems);
}

TEST_F(StemBatches, LeaveOutAboutAThirdOfEachStem) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, split_by_song(folder, 0).windows, 0, kWindows);
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

// Whether a channel is one of the folder's, times a factor. Shapes: [N], the frames of a window.
bool is_copy(const StemFolder& folder, Stem stem, std::span<const float> channel) {
  std::vector<float> stored(2 * channel.size());
  for (int64_t window = 0; window < folder.size(); ++window) {
    folder[window].read(stem, 0, stored);
    for (size_t side = 0; side < 2; ++side) {
      const auto at = [&](size_t i) { return stored[2 * i + side]; };
      size_t loudest = 0;
      for (size_t i = 0; i < channel.size(); ++i) {
        if (std::fabs(at(i)) > std::fabs(at(loudest))) loudest = i;
      }
      const float factor = channel[loudest] / at(loudest), peak = std::fabs(channel[loudest]);
      bool is_same = peak > 0;
      for (size_t i = 0; i < channel.size() && is_same; ++i) {
        is_same = std::fabs(channel[i] - factor * at(i)) < 1e-4F * peak;
      }
      if (is_same) return true;
    }
  }
  return false;
}

// A limiter changes all stems of a window. In the other windows, those that no amplifier played are
// copies of what is stored.
TEST_F(StemBatches, PlayAFifthOfGuitarsAndBassesThroughAmplifiers) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, split_by_song(folder, 0).windows, 0, kWindows);
  const auto samples = static_cast<size_t>(folder.frames());
  int can_be = 0, amplified = 0;
  for (int64_t step = 0; step < 20; ++step) {
    const StemBatch batch =
        stem_batch(material, ItemOrder(0, kWindows, 1), 1, step, kBatch, folder.frames());
    for (size_t row = 0; row < kBatch; ++row) {
      int copies = 0, others = 0, own_can_be = 0, own_amplified = 0;
      for (const Stem stem : kStems) {
        const size_t first = (row * kStemCount + static_cast<size_t>(stem)) * 2 * samples;
        const auto channel = std::span(batch.stems).subspan(first, samples);
        if (std::ranges::all_of(channel, [](float x) { return x == 0; })) continue;
        const bool is_other = stem == Stem::kDrums || stem == Stem::kVocals || stem == Stem::kOther;
        const bool is_same = is_copy(folder, stem, channel);
        ++(is_other ? others : own_can_be);
        if (!is_other) own_amplified += is_same ? 0 : 1;
        if (is_other) copies += is_same ? 1 : 0;
      }
      if (copies == 0) continue;
      EXPECT_EQ(copies, others) << "only guitars and basses have amplifiers";
      can_be += own_can_be;
      amplified += own_amplified;
    }
  }
  ASSERT_GT(can_be, 50);
  EXPECT_NEAR(static_cast<double>(amplified) / can_be, 0.2, 0.1);
}

TEST_F(StemBatches, CropsThatAreTooLongAreRefused) {
  const StemFolder folder(scratch_->path());
  const StemMaterial material(folder, split_by_song(folder, 0).windows, 0, kWindows);
  EXPECT_THAT(hum::testing::message_of(
                  [&] { stem_batch(material, ItemOrder(0, kWindows, 1), 1, 0, 1, kStemRate + 1); }),
              HasSubstr("longer than the windows"));
}

// In turns: the first has three of seven windows.
ComposeSong three_songs() {
  return [](Split, uint64_t, uint64_t index) {
    audio::MidiSong song = testing::small_band();
    song.parts[0].notes[0].pitch += static_cast<int>(index % 3);
    return song;
  };
}
std::set<std::string> songs_of(const StemFolder& folder, std::span<const int64_t> windows) {
  std::set<std::string> songs;
  for (const int64_t i : windows) songs.insert(folder[i].meta().at("sha256").get<std::string>());
  return songs;
}

TEST(SplitBySong, HoldsOutWholeSongs) {
  const ScratchFolder scratch;
  MakeStemsOptions options{
      .material = testing::small_options(), .count = 7, .windows_per_shard = 7};
  options.material.seconds = 1;
  make_stems(scratch.path(), options, three_songs());
  const StemFolder folder(scratch.path());
  for (int64_t wanted = 0; wanted <= 7; ++wanted) {
    const SongSplit split = split_by_song(folder, wanted);
    ASSERT_EQ(split.windows.size(), 7U);
    const auto cut = static_cast<size_t>(7 - split.held_out);
    const auto training = songs_of(folder, std::span(split.windows).first(cut));
    const auto held_out = songs_of(folder, std::span(split.windows).subspan(cut));
    EXPECT_EQ(training.size() + held_out.size(), 3U) << "a song is in both parts";
    EXPECT_GE(split.held_out, wanted);
    EXPECT_LE(split.held_out, wanted == 0 ? 0 : wanted + 2) << "a song has up to three windows";
    auto sorted = split.windows;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, std::vector<int64_t>({0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(SplitBySong, MaterialHasTheWindowsOfItsPartAlone) {
  const ScratchFolder scratch;
  MakeStemsOptions options{
      .material = testing::small_options(), .count = 7, .windows_per_shard = 7};
  options.material.seconds = 1;
  make_stems(scratch.path(), options, three_songs());
  const StemFolder folder(scratch.path());
  const SongSplit split = split_by_song(folder, 1);
  const int64_t usable = 7 - split.held_out;
  const StemMaterial training(folder, split.windows, 0, usable);
  const StemMaterial held_out(folder, split.windows, usable, split.held_out);
  const auto songs = [&](const StemMaterial& material) {
    return songs_of(folder, material.windows_with(Stem::kDrums));
  };
  EXPECT_EQ(songs(training).size(), 2U);
  EXPECT_EQ(songs(held_out).size(), 1U);
  EXPECT_FALSE(songs(training).contains(*songs(held_out).begin()));
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
