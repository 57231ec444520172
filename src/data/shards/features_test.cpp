// Features of recordings are items of version 3: shards of different sizes, without sound.
#include "data/synthesis/features.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/features/tokens.h"
#include "data/shards/item_folder.h"
#include "data/shards/manifest.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr int64_t kBooks = 2;
constexpr size_t kCodes = kItemFrames * kBooks;

std::vector<uint16_t> codes(uint16_t value) { return std::vector<uint16_t>(kCodes, value); }

// Codes 10 n + 1 to 4 for the n-th sample.
FeatureSample sample(uint16_t n) {
  const auto base = static_cast<uint16_t>(10 * n);
  const auto code = [&](int i) { return codes(static_cast<uint16_t>(base + i)); };
  return {.recording = std::string(60, 'a') + "beef",
          .window = n,
          .meta = {{"n", n}},
          .notes = {{0, 1, 60 + n}},
          .reference_notes = {{0, 1, 40 + n}},
          .features = std::vector<float>(kItemFrames * kMelodyFeatures, 0.5F),
          .left = code(1),
          .right = code(2),
          .mono = code(3),
          .sine = code(4),
          .reference = std::vector<uint16_t>(50 * kBooks, n)};
}

class FeatureItems : public ::testing::Test {
 protected:
  // A shard of each list of samples.
  void write(const std::vector<std::vector<FeatureSample>>& shards) const {
    std::vector<ShardEntry> entries;
    for (const auto& samples : shards) {
      TarWriter archive;
      for (const auto& one : samples) add_features(archive, one);
      const std::string bytes = archive.finish();
      const auto name = fmt::format("features-{}.tar", entries.size());
      write_file(folder_.path() / name, bytes);
      entries.push_back({name, std::ssize(samples), std::ssize(bytes), sha256(bytes)});
    }
    Json options = {{"version", kFeaturesVersion}, {"codec", "c0de"}};
    if (!shards.front().front().sound.empty()) options[kSoundOption] = true;
    write_manifest(folder_.path(), options, entries);
  }

  ScratchFolder folder_;
};

TEST_F(FeatureItems, AreReadAsItemsOfMonoOrStereo) {
  write({{sample(0)}, {sample(1), sample(2)}});
  EXPECT_EQ(read_manifest(folder_.path()).items(), 3);
  EXPECT_TRUE(verify_shards(folder_.path(), 1).empty());
  const ItemFolder mono(folder_.path()), stereo(folder_.path(), audio::Channels::kLeftRight);
  ASSERT_EQ(mono.size(), 3);
  EXPECT_EQ(mono.codec(), "c0de");
  EXPECT_EQ(mono.channels(), audio::Channels::kMono);
  EXPECT_EQ(stereo.channels(), audio::Channels::kLeftRight);
  EXPECT_FALSE(mono.has_codes_by_channel());
  EXPECT_TRUE(stereo.has_codes_by_channel());
  for (int64_t n = 0; n < 3; ++n) {
    const ItemView& item = mono[n];
    EXPECT_EQ(item.index, static_cast<uint64_t>(n));
    EXPECT_EQ(item.meta().at("n"), n);
    EXPECT_EQ(item.notes().melody.at(0).pitch, 60 + n);
    EXPECT_EQ(item.reference_notes().at(0).pitch, 40 + n);
    EXPECT_EQ(item.codes.size(), kCodes);
    EXPECT_THAT(item.codes, Each(10 * n + 3));
    EXPECT_THAT(item.mono_codes.last(kCodes), Each(10 * n + 4));
    EXPECT_THAT(stereo[n].codes.first(kCodes), Each(10 * n + 1));
    EXPECT_THAT(stereo[n].codes.last(kCodes), Each(10 * n + 2));
    EXPECT_EQ(item.reference_codes.size(), 50U * kBooks);
  }
  EXPECT_EQ(feature_key(sample(2).recording, 2), "aaaaaaaaaaaaaaaa_000002");
}

TEST_F(FeatureItems, GiveTheTokensOfTwoChannelsInAlternateColumns) {
  write({{sample(0)}});
  const ItemFolder stereo(folder_.path(), audio::Channels::kLeftRight);
  CodecTables tables{.encoder = {.books = kBooks, .fingerprint = "c0de"},
                     .entries = 32,
                     .latent = 2,
                     .codebooks = std::vector<float>(2 * kBooks * 32 * 2)};
  const TokenTable tokens(stereo, folder_.path(), tables);
  const auto target = tokens.target(0);
  ASSERT_EQ(target.size(), 2 * kCodes);
  for (size_t i = 0; i < target.size(); ++i) EXPECT_EQ(target[i], i % 2 == 0 ? 1 : 2);
  EXPECT_EQ(tokens.histogram().at(1), kItemFrames);
  tables.encoder.fingerprint = "0ther";
  EXPECT_THAT(message_of([&] { TokenTable(stereo, folder_.path(), tables); }),
              HasSubstr("tokens of another codec"));
}

// Values that 16 bits hold exactly.
TEST_F(FeatureItems, GiveTheirSoundInMonoAndStereo) {
  auto stereo = sample(0), mono = sample(1), with_mono_version = sample(2);
  for (int64_t i = 0; i < kItemSamples; ++i) {
    stereo.sound.insert(stereo.sound.end(), {4096, 8192});
  }
  mono.sound.assign(kItemSamples, 2048);
  with_mono_version.sound = stereo.sound;
  with_mono_version.mono_sound.assign(kItemSamples, 1024);
  write({{stereo, mono, with_mono_version}});
  const auto level = [&](const ItemFolder& items, int64_t item, size_t channel) {
    const auto target = items[item].target;
    const auto sound =
        coded_sound(target, std::ssize(target) / kItemSamples, items.channels()).at(channel);
    EXPECT_EQ(std::ssize(sound), kItemSamples);
    EXPECT_THAT(sound, Each(sound.front()));
    return 32768 * sound.front();
  };
  const ItemFolder in_mono(folder_.path()), in_stereo(folder_.path(), audio::Channels::kLeftRight);
  in_mono.require_sound("a voice");
  EXPECT_EQ(level(in_mono, 0, 0), 6144);
  EXPECT_EQ(level(in_mono, 1, 0), 2048);
  EXPECT_EQ(level(in_mono, 2, 0), 1024);
  EXPECT_EQ(level(in_stereo, 0, 0), 4096);
  EXPECT_EQ(level(in_stereo, 0, 1), 8192);
  EXPECT_EQ(level(in_stereo, 1, 1), 2048);
  EXPECT_EQ(level(in_stereo, 2, 1), 8192);
  stereo.sound.resize(kItemSamples + 100);
  write({{stereo}});
  EXPECT_THAT(message_of([&] { (void)ItemFolder(folder_.path())[0]; }),
              HasSubstr("132400 samples"));
}

TEST_F(FeatureItems, SayWhatTheyDoNotHold) {
  write({{sample(0)}});
  EXPECT_EQ(code_of([&] { ItemFolder(folder_.path(), audio::Channels::kMidSide); }),
            ExitCode::kConfig);
  EXPECT_THAT(message_of([&] { ItemFolder(folder_.path()).require_sound("a codec"); }),
              HasSubstr("do not hold the sound that a codec learns from"));
  auto short_one = sample(0);
  short_one.features.resize(9);
  write({{short_one}});
  EXPECT_THAT(message_of([&] { (void)ItemFolder(folder_.path())[0]; }),
              HasSubstr("of another shape"));
}

}  // namespace
}  // namespace hum::data
