#include "data/singing/sung_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/shards/array_files.h"
#include "data/shards/make_items.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

using ::testing::HasSubstr;

const SungOptions kOptions{.seconds = 4, .silent_share = 0, .count = 5, .items_per_shard = 2};

TEST(SungShards, HoldWhatWasMade) {
  const ScratchFolder folder;
  ASSERT_TRUE(make_sung_items(folder.path(), kOptions));
  const SungFolder items(folder.path());
  ASSERT_EQ(items.size(), 5);
  for (int64_t i = 0; i < items.size(); ++i) {
    const SungItem made =
        make_sung_item(1, static_cast<uint64_t>(i), {.seconds = 4, .silent_share = 0});
    const StoredSungItem stored = items[i];
    EXPECT_TRUE(std::ranges::equal(stored.samples, to_int16(made.samples)));
    EXPECT_TRUE(std::ranges::equal(stored.f0_hz, made.f0_hz));
    ASSERT_EQ(stored.notes.size(), 3 * made.notes.size());
    EXPECT_FLOAT_EQ(stored.notes[2], static_cast<float>(made.notes[0].hz));
  }
}

TEST(SungShards, AreResumedAndRefusedWithOtherOptions) {
  const ScratchFolder folder;
  std::atomic<int> asked = 0;
  EXPECT_FALSE(make_sung_items(folder.path(), kOptions, {}, [&] { return ++asked > 3; }));
  EXPECT_TRUE(make_sung_items(folder.path(), kOptions));
  SungOptions others = kOptions;
  others.seed = 2;
  EXPECT_THAT(hum::testing::message_of([&] { make_sung_items(folder.path(), others); }),
              HasSubstr("other options"));
  others.seconds = 0;
  EXPECT_THAT(hum::testing::message_of([&] { make_sung_items(folder.path(), others); }),
              HasSubstr("seconds 0"));
}

TEST(SungShards, ItemsOfInstrumentsAreRefused) {
  const ScratchFolder folder;
  MakeOptions options{.count = 1, .items_per_shard = 1, .threads = 1};
  options.items.presets = {"violin"};
  make_items(folder.path(), options);
  EXPECT_THAT(hum::testing::message_of([&] { SungFolder{folder.path()}; }),
              HasSubstr("instruments, not of voices"));
}

TEST(SungShards, ATruncatedShardIsNamed) {
  const ScratchFolder folder;
  make_sung_items(folder.path(), kOptions);
  std::filesystem::resize_file(folder / "items-000001.tar", 1000);
  EXPECT_THAT(hum::testing::message_of([&] { SungFolder{folder.path()}; }),
              HasSubstr("items-000001.tar: has 1000 bytes instead of"));
}

TEST(SungBatch, LabelsLieOnTheSound) {
  const ScratchFolder folder;
  make_sung_items(folder.path(), kOptions);
  const SungFolder items(folder.path());
  constexpr int64_t kSamples = 200 * kPitchHop;
  const SungBatch batch = sung_batch(items, ItemOrder(0, 5, 1), 1, 0, 4, kSamples, /*clean=*/true);
  ASSERT_EQ(batch.audio.size(), static_cast<size_t>(4 * kSamples));
  int64_t voiced = 0, onsets = 0;
  for (int64_t b = 0; b < 4; ++b) {
    const std::span sound =
        std::span(batch.audio).subspan(static_cast<size_t>(b * kSamples), kSamples);
    EXPECT_NEAR(active_rms(sound), kTargetRms, 0.06);
    for (int64_t t = 0; t < 200; ++t) {
      const auto at = static_cast<size_t>(b * 200 + t);
      onsets += batch.onset[at] > 0.5 ? 1 : 0;
      if (batch.note[at] < 0 || batch.f0[at] < 0) continue;
      ++voiced;
      EXPECT_NEAR(batch.f0[at], batch.note[at], 13) << "vibrato, scoops and glides, no more";
    }
  }
  EXPECT_GT(voiced, 300);
  EXPECT_GT(onsets, 4);
}

TEST(SungBatch, DependsOnSeedAndStepAlone) {
  const ScratchFolder folder;
  make_sung_items(folder.path(), kOptions);
  const SungFolder items(folder.path());
  const auto batch = [&](uint64_t seed, int64_t step) {
    return sung_batch(items, ItemOrder(0, 5, seed), seed, step, 3, 100 * kPitchHop);
  };
  EXPECT_EQ(batch(1, 7).audio, batch(1, 7).audio);
  EXPECT_EQ(batch(1, 7).onset, batch(1, 7).onset);
  EXPECT_NE(batch(1, 7).audio, batch(1, 8).audio);
  EXPECT_NE(batch(1, 7).audio, batch(2, 7).audio);
}

}  // namespace
}  // namespace hum::data
