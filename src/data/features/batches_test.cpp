// Batches against the items they are cut from.
#include "data/features/batches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "data/shards/array_files.h"
#include "data/shards/make_items.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr int64_t kItems = 5, kBooks = 2, kLatent = 2, kCrop = 40;

// Items of two presets, and a "codec" whose first book is the frame's number and whose second is
// the sign of its first sample.
class Batches : public ::testing::Test {
 protected:
  Batches()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("hum-batches-{}", getpid())),
        items_(rendered(folder_)),
        tokens_(items_, folder_, tables()) {}
  ~Batches() override { std::filesystem::remove_all(folder_); }

  static MakeOptions options() {
    return {.items = {.presets = {"flute", "piano"}, .sound_fonts = {"fluidr3"}},
            .count = kItems,
            .items_per_shard = 4,
            .threads = 2};
  }
  static ItemFolder rendered(const std::filesystem::path& folder) {
    std::filesystem::remove_all(folder);
    make_items(folder, options());
    return ItemFolder(folder);
  }
  static CodecTables tables() {
    CodecTables codec{.entries = 512, .latent = kLatent};
    codec.encoder.books = kBooks;
    for (int64_t book = 0; book < kBooks; ++book) {
      for (int64_t entry = 0; entry < codec.entries; ++entry) {
        codec.codebooks.push_back(book == 0 ? static_cast<float>(entry) : 0);
        codec.codebooks.push_back(book == 1 ? static_cast<float>(entry) : 0);
      }
    }
    codec.encoder.fingerprint = std::string(64, 'f');
    codec.encoder.encode = [](std::span<const float> windows) {
      std::vector<int32_t> codes;
      for (size_t w = 0; w < windows.size() / kItemSamples; ++w) {
        for (int32_t frame = 0; frame < kItemFrames; ++frame) {
          const size_t sample = w * kItemSamples + static_cast<size_t>(frame * kFrameSamples);
          codes.push_back(frame);
          codes.push_back(windows[sample] > 0 ? 1 : 0);
        }
      }
      return codes;
    };
    return codec;
  }

  std::filesystem::path folder_;
  ItemFolder items_;
  TokenTable tokens_;
  ItemOrder order_{0, kItems, 7};
};

TEST_F(Batches, VisitEveryItemOnceAnEpoch) {
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < kItems; ++i) seen.insert(order_.item(epoch * kItems + i));
    EXPECT_EQ(std::ssize(seen), kItems);
  }
}

// Presets take turns among the items: whatever their number, a batch has many of them, and what it
// has says nothing about the next one.
TEST(ItemOrder, BatchesMixItemsThatTakeTurns) {
  constexpr int64_t kCount = 11808, kBatch = 24;
  const ItemOrder order(0, kCount, 1);
  for (const int64_t presets : {24, 88, 96}) {
    double distinct = 0, again = 0;
    constexpr int64_t kBatches = kCount / kBatch;
    std::set<int64_t> last;
    for (int64_t step = 0; step < kBatches; ++step) {
      std::set<int64_t> now;
      for (int64_t b = 0; b < kBatch; ++b) now.insert(order.item(step * kBatch + b) % presets);
      distinct += static_cast<double>(now.size()) / kBatches;
      for (const int64_t preset : now) again += last.contains(preset) ? 1.0 / kBatches : 0;
      last = std::move(now);
    }
    const auto n = static_cast<double>(presets);
    const double expected = n * (1 - std::pow(1 - 1 / n, kBatch));
    EXPECT_NEAR(distinct, expected, 0.4) << presets;
    EXPECT_NEAR(again, expected * expected / n, 0.6) << presets;
  }
}

TEST_F(Batches, CropSoundLatentsAndMelodyAtOnePlace) {
  const auto batch = voice_batch(items_, tokens_, order_, 1, 3, 4, kCrop);
  std::set<int64_t> starts(batch.starts.begin(), batch.starts.end());
  EXPECT_GT(starts.size(), 1U) << "every crop begins at the same frame";
  for (int64_t b = 0; b < 4; ++b) {
    const int64_t start = batch.starts[static_cast<size_t>(b)];
    const ItemView& item = items_[order_.item(3 * 4 + b)];
    std::vector<float> target(kItemSamples);
    to_float(item.target, target);
    const auto melody = melody_features(item.notes().played, kItemFrames);
    for (int64_t t = 0; t < kCrop; ++t) {
      const auto sample = static_cast<size_t>((start + t) * kFrameSamples);
      EXPECT_EQ(batch.audio[static_cast<size_t>((b * kCrop + t) * kFrameSamples)], target[sample]);
      const auto row = static_cast<size_t>((b * kCrop + t) * kLatent);
      EXPECT_EQ(batch.latents[row], static_cast<float>(start + t));
      EXPECT_EQ(batch.latents[row + 1], target[sample] > 0 ? 1 : 0);
      EXPECT_EQ(batch.melody[static_cast<size_t>((b * kCrop + t) * kMelodyFeatures)],
                melody[static_cast<size_t>((start + t) * kMelodyFeatures)]);
    }
  }
}

TEST_F(Batches, HoldTheSameItemsWholeAndCropped) {
  const auto whole = token_batch(items_, tokens_, order_, 3, 4, 2);
  const auto cropped = voice_batch(items_, tokens_, order_, 1, 3, 4, kCrop);
  ASSERT_EQ(whole.codes.size(), static_cast<size_t>(2 * kItemFrames * kBooks));
  ASSERT_EQ(whole.reference.size(), static_cast<size_t>(2 * kReferenceFrames * kLatent));
  for (int64_t b = 0; b < 2; ++b) {
    const int64_t index = order_.item(3 * 4 + b);
    EXPECT_EQ(whole.reference_frames[static_cast<size_t>(b)], tokens_.reference_frames(index));
    for (int64_t t = 0; t < kCrop; ++t) {
      const int64_t frame = b * kItemFrames + cropped.starts[static_cast<size_t>(b)] + t;
      for (int64_t d = 0; d < kLatent; ++d) {
        EXPECT_EQ(whole.latents[static_cast<size_t>(frame * kLatent + d)],
                  cropped.latents[static_cast<size_t>((b * kCrop + t) * kLatent + d)]);
      }
    }
  }
}

TEST_F(Batches, ReplaceTheirShareOfMelodyFramesAndNothingElse) {
  const auto plain = token_batch(items_, tokens_, order_, 3, 4, 4);
  const FrameReplacement replacement{.share = 0.1, .seed = 5};
  const auto batch = token_batch(items_, tokens_, order_, 3, 4, 4, replacement);
  EXPECT_EQ(batch.codes, plain.codes);
  EXPECT_EQ(batch.latents, plain.latents);
  EXPECT_EQ(batch.reference, plain.reference);
  int replaced = 0;
  for (int64_t row = 0; row < 4 * kItemFrames; ++row) {
    const auto at = row * kMelodyFeatures, item = row / kItemFrames * kItemFrames * kMelodyFeatures;
    const std::span<const float> now = std::span(batch.melody).subspan(at, kMelodyFeatures);
    if (std::ranges::equal(now, std::span(plain.melody).subspan(at, kMelodyFeatures))) continue;
    ++replaced;
    bool found = false;
    for (int64_t t = 0; t < kItemFrames && !found; ++t) {
      found = std::ranges::equal(
          now, std::span(plain.melody).subspan(item + t * kMelodyFeatures, kMelodyFeatures));
    }
    EXPECT_TRUE(found) << "row " << row << " is no frame of its melody";
  }
  EXPECT_NEAR(replaced, 120, 40);
  // The same draw for the same place, another one when the item comes round again.
  EXPECT_EQ(token_batch(items_, tokens_, order_, 3, 4, 4, replacement).melody, batch.melody);
  const ItemOrder one(0, 1, 7);
  EXPECT_NE(token_batch(items_, tokens_, one, 0, 1, 1, replacement).melody,
            token_batch(items_, tokens_, one, 1, 1, 1, replacement).melody);
}

// The codec's tokens as TokenTable finds them: beside the items, and in their shards.
TEST_F(Batches, ReadTokensThatAreThereInsteadOfMakingThemAgain) {
  CodecTables silent = tables();
  silent.encoder.encode = [](std::span<const float>) -> std::vector<int32_t> {
    throw std::logic_error("encoded again");
  };
  const TokenTable beside(items_, folder_, silent);
  const auto other = folder_ / "with-codes";
  make_items(other, options(), {.encoder = tables().encoder});
  const ItemFolder items(other);
  const TokenTable inside(items, other, silent);
  for (int64_t i = 0; i < kItems; ++i) {
    EXPECT_TRUE(std::ranges::equal(beside.target(i), tokens_.target(i)));
    EXPECT_TRUE(std::ranges::equal(inside.target(i), tokens_.target(i)));
    EXPECT_TRUE(std::ranges::equal(inside.reference(i), tokens_.reference(i)));
    EXPECT_EQ(inside.reference_frames(i), std::ssize(items[i].reference) / kFrameSamples);
  }
  silent.encoder.fingerprint[0] = 'e';
  EXPECT_THROW(TokenTable(items, other, silent), std::logic_error);
}

}  // namespace
}  // namespace hum::data
