// Batches compared with the items that they are cut from.
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
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

constexpr int64_t kItems = 5, kBooks = 2, kLatent = 2, kCrop = 40;

// Items of two presets, and a "codec" whose first book is the frame's number and whose second is
// the sign of its first sample.
class Batches : public ::testing::Test {
 protected:
  explicit Batches(audio::Channels channels = audio::Channels::kMono)
      : folder_(std::filesystem::temp_directory_path() / fmt::format("hum-batches-{}", getpid())),
        items_(rendered(folder_, channels)),
        tokens_(items_, folder_, tables(audio::channel_count(channels))) {}
  ~Batches() override { std::filesystem::remove_all(folder_); }

  static MakeOptions options(audio::Channels channels = audio::Channels::kMono) {
    return {
        .items = {.presets = {"flute", "piano"}, .sound_fonts = {"fluidr3"}, .channels = channels},
        .count = kItems,
        .items_per_shard = 4,
        .threads = 2};
  }
  static ItemFolder rendered(const std::filesystem::path& folder, audio::Channels channels) {
    std::filesystem::remove_all(folder);
    make_items(folder, options(channels));
    return ItemFolder(folder);
  }
  // The channels' books are interleaved; each has its own part of the latent.
  static CodecTables tables(int64_t channels = 1) {
    CodecTables codec{.entries = 512, .latent = kLatent * channels};
    codec.encoder.books = kBooks;
    for (int64_t column = 0; column < kBooks * channels; ++column) {
      const int64_t place = column % channels * kLatent + column / channels;
      for (int64_t entry = 0; entry < codec.entries; ++entry) {
        for (int64_t d = 0; d < codec.latent; ++d) {
          codec.codebooks.push_back(d == place ? static_cast<float>(entry) : 0);
        }
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

// Items cycle through presets. Whatever their number, a batch has many of them and does not predict
// the next batch.
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

TEST_F(Batches, HoldTheFeaturesAndTailsThatTheirModelReads) {
  const auto cropped =
      voice_batch(items_, tokens_, order_, 1, 3, 4, kCrop, {kAllMelodyFeatures, 2});
  const auto whole =
      token_batch(items_, tokens_, order_, 3, 4, 4, {.melody_columns = kAllMelodyFeatures});
  const auto plain = token_batch(items_, tokens_, order_, 3, 4, 4);
  constexpr int64_t kSize = kItemFrames * kAllMelodyFeatures, kPart = kCrop * kAllMelodyFeatures;
  ASSERT_EQ(std::ssize(whole.melody), 4 * kSize);
  ASSERT_EQ(std::ssize(cropped.melody), 4 * kPart);
  for (int64_t b = 0; b < 4; ++b) {
    const int64_t start = cropped.starts[static_cast<size_t>(b)];
    const ItemNotes notes = items_[order_.item(3 * 4 + b)].notes();
    const auto melody = melody_features(notes.melody, kItemFrames, kAllMelodyFeatures),
               played = melody_features(notes.played, kItemFrames, kAllMelodyFeatures);
    EXPECT_TRUE(std::ranges::equal(std::span(whole.melody).subspan(b * kSize, kSize), melody));
    EXPECT_TRUE(std::ranges::equal(std::span(cropped.melody).subspan(b * kPart, kPart),
                                   std::span(played).subspan(start * kAllMelodyFeatures, kPart)));
    const auto excitation =
        render_excitation(shifted(notes.played, -static_cast<double>(start) / kFramesPerSecond),
                          kCrop * kFrameSamples, 2);
    EXPECT_TRUE(std::ranges::equal(
        std::span(cropped.excitation).subspan(b * std::ssize(excitation), excitation.size()),
        excitation));
    for (int64_t t = 0; t < kItemFrames; ++t) {
      const auto row = b * kItemFrames + t;
      EXPECT_TRUE(std::ranges::equal(
          std::span(whole.melody).subspan(row * kAllMelodyFeatures, kMelodyFeatures),
          std::span(plain.melody).subspan(row * kMelodyFeatures, kMelodyFeatures)));
    }
  }
}

class StereoBatches : public Batches {
 protected:
  StereoBatches() : Batches(audio::Channels::kMidSide) {}
};

TEST_F(StereoBatches, HoldBothChannelsSideBySideAndAMonoReference) {
  ASSERT_EQ(tokens_.books(), 2 * kBooks);
  const auto batch = token_batch(items_, tokens_, order_, 0, kItems, kItems);
  int64_t different = 0;
  for (int64_t b = 0; b < kItems; ++b) {
    std::vector<float> heard(2 * kItemSamples);
    to_float(items_[order_.item(b)].target, heard);
    for (int64_t t = 0; t < kItemFrames; ++t) {
      const auto sample = static_cast<size_t>(2 * t * kFrameSamples);
      const float left = heard[sample], right = heard[sample + 1];
      const auto row = static_cast<size_t>((b * kItemFrames + t) * 2 * kLatent);
      const int32_t mid = left + right > 0 ? 1 : 0, side = left - right > 0 ? 1 : 0;
      EXPECT_EQ(
          (std::vector<int32_t>(batch.codes.begin() + row, batch.codes.begin() + row + 4)),
          (std::vector<int32_t>{static_cast<int32_t>(t), static_cast<int32_t>(t), mid, side}));
      EXPECT_EQ(batch.latents[row], static_cast<float>(t));
      EXPECT_EQ(batch.latents[row + 1], static_cast<float>(mid));
      EXPECT_EQ(batch.latents[row + 2], static_cast<float>(t));
      EXPECT_EQ(batch.latents[row + 3], static_cast<float>(side));
      different += mid == side ? 0 : 1;
    }
    ASSERT_GE(batch.reference_frames[static_cast<size_t>(b)], 50);
    for (int64_t s = 0; s < 50; ++s) {
      const auto row = static_cast<size_t>((b * kReferenceFrames + s) * 2 * kLatent);
      EXPECT_EQ(batch.reference[row], static_cast<float>(s));
      EXPECT_EQ(batch.reference[row + 2], 0);
      EXPECT_EQ(batch.reference[row + 3], 0);
    }
  }
  EXPECT_GT(different, 100);
}

TEST_F(StereoBatches, CropOneCodedChannelWithItsLatents) {
  auto batch = voice_batch(items_, tokens_, order_, 1, 0, 4 * kItems, kCrop);
  EXPECT_EQ(std::set<int64_t>(batch.channels.begin(), batch.channels.end()).size(), 2U);
  const auto whole = token_batch(items_, tokens_, order_, 0, 4 * kItems, 4 * kItems);
  std::vector<float> others = whole.latents;
  for (float& value : others) value += 1;
  const auto before = batch.latents;
  replace_latents(batch, others, 4 * kItems, items_.channels());
  for (int64_t b = 0; b < 4 * kItems; ++b) {
    const int64_t channel = batch.channels[static_cast<size_t>(b)];
    const int64_t start = batch.starts[static_cast<size_t>(b)];
    std::vector<float> heard(2 * kItemSamples);
    to_float(items_[order_.item(b)].target, heard);
    const auto coded = audio::coded_channels(heard, items_.channels());
    for (int64_t t = 0; t < kCrop; ++t) {
      EXPECT_EQ(
          batch.audio[static_cast<size_t>((b * kCrop + t) * kFrameSamples)],
          coded[static_cast<size_t>(channel)][static_cast<size_t>((start + t) * kFrameSamples)]);
      for (int64_t d = 0; d < kLatent; ++d) {
        const auto at = static_cast<size_t>((b * kCrop + t) * kLatent + d);
        const int64_t row = (b * kItemFrames + start + t) * 2 + channel;
        EXPECT_EQ(before[at], whole.latents[static_cast<size_t>(row * kLatent + d)]);
        EXPECT_EQ(batch.latents[at], before[at] + 1);
      }
    }
  }
}

TEST_F(StereoBatches, GiveOtherModelsTheMonoMix) {
  const auto audio = audio_batch(items_, order_, 1, 0, 1, kItemSamples);
  std::vector<float> heard(2 * kItemSamples);
  to_float(items_[order_.item(0)].target, heard);
  for (size_t i = 0; i < audio.size(); i += 997) {
    EXPECT_EQ(audio[i], (heard[2 * i] + heard[2 * i + 1]) / 2);
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
  const TokenBatchOptions replacement{.replacement = {.share = 0.1, .seed = 5}};
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
  // The same draw for the same position, a new one in the item's next epoch.
  EXPECT_EQ(token_batch(items_, tokens_, order_, 3, 4, 4, replacement).melody, batch.melody);
  const ItemOrder one(0, 1, 7);
  EXPECT_NE(token_batch(items_, tokens_, one, 0, 1, 1, replacement).melody,
            token_batch(items_, tokens_, one, 1, 1, 1, replacement).melody);
}

TEST_F(Batches, HoldTheMelodiesOfReferencesIfAskedTo) {
  EXPECT_TRUE(token_batch(items_, tokens_, order_, 3, 4, 2).reference_melody.empty());
  const auto batch = token_batch(items_, tokens_, order_, 3, 4, 2, {.has_reference_melody = true});
  const int64_t size = kReferenceFrames * kMelodyFeatures;
  ASSERT_EQ(std::ssize(batch.reference_melody), 2 * size);
  ItemMaker maker(options().items);
  for (int64_t b = 0; b < 2; ++b) {
    const auto item = maker.make(static_cast<uint64_t>(order_.item(3 * 4 + b)));
    const auto expected = melody_features(item.reference_notes, kReferenceFrames);
    EXPECT_TRUE(std::ranges::equal(std::span(batch.reference_melody).subspan(b * size, size),
                                   std::span(expected)));
  }
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
