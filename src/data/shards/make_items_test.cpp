// Shards of training items are written, kept, divided among ranks, read back and verified.
#include "data/shards/make_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "data/shards/array_files.h"
#include "data/shards/item_folder.h"
#include "data/shards/manifest.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ExitCode::kOk, "nothing was thrown", ""};
}

class Shards : public ::testing::Test {
 protected:
  Shards() : folder_(fs::temp_directory_path() / fmt::format("hum-shards-{}", getpid())) {
    fs::remove_all(folder_);
    options_.items.presets = {"flute", "piano"};
    options_.count = 5;
    options_.items_per_shard = 2;
    options_.threads = 2;
  }
  ~Shards() override { fs::remove_all(folder_); }

  fs::path shard(int64_t i) const { return folder_ / shard_name(i); }
  // Name -> SHA-256 of every file in the folder.
  std::map<std::string, std::string> hashes() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      result[entry.path().filename().string()] = sha256_file(entry.path());
    }
    return result;
  }
  // The hashes of a folder made in one call; removes the folder.
  std::map<std::string, std::string> expected_hashes() {
    EXPECT_TRUE(make_items(folder_, options_));
    auto result = hashes();
    fs::remove_all(folder_);
    return result;
  }

  fs::path folder_;
  MakeOptions options_;
};

TEST_F(Shards, GiveBackWhatWasMade) {
  EXPECT_TRUE(make_items(folder_, options_));
  const ItemFolder folder(folder_);
  ASSERT_EQ(folder.size(), 5);
  EXPECT_EQ(folder.codec(), "");
  ItemMaker maker(options_.items);
  for (int64_t i = 4; i >= 0; --i) {
    const auto item = maker.make(static_cast<uint64_t>(i));
    const ItemView& view = folder[i];
    EXPECT_EQ(view.index, item.index);
    EXPECT_EQ(view.meta(), maker.describe(item));
    EXPECT_EQ(view.meta()["preset"], i % 2 == 0 ? "flute" : "acoustic-grand-piano");
    EXPECT_EQ(view.notes().melody, item.melody);
    EXPECT_EQ(view.notes().played, item.played);
    EXPECT_EQ(view.reference_notes(), item.reference_notes);
    EXPECT_THAT(item.reference_notes, Not(IsEmpty()));
    EXPECT_TRUE(std::ranges::equal(view.features, item.features));
    EXPECT_THAT(view.codes, IsEmpty());
    std::vector<float> target(view.target.size());
    to_float(view.target, target);
    ASSERT_EQ(target.size(), item.target.size());
    for (size_t k = 0; k < target.size(); ++k) ASSERT_NEAR(target[k], item.target[k], 2e-5);
    EXPECT_EQ(view.reference.size(), item.reference.size());
  }
}

// Codes that identify the sample they were made from.
TokenEncoder simple_encoder() {
  return {.books = 2,
          .fingerprint = std::string(64, 'f'),
          .encode = [](std::span<const float> windows) {
            std::vector<int32_t> codes;
            for (size_t at = 0; at < windows.size(); at += kFrameSamples) {
              codes.push_back(static_cast<int32_t>(at / kFrameSamples % kItemFrames));
              codes.push_back(windows[at] > 0 ? 1 : 0);
            }
            return codes;
          }};
}

TEST_F(Shards, HoldTwoChannelsWhereTheItemsAreStereo) {
  options_.items.channels = audio::Channels::kLeftRight;
  options_.count = 2;
  make_items(folder_, options_, {.encoder = simple_encoder()});
  const ItemFolder folder(folder_);
  EXPECT_EQ(folder.channels(), audio::Channels::kLeftRight);
  EXPECT_EQ(read_json(folder_ / "shards.json")["options"]["items"]["channels"], "left_right");
  ItemMaker maker(options_.items);
  for (int64_t i = 0; i < 2; ++i) {
    const auto item = maker.make(static_cast<uint64_t>(i));
    const ItemView& view = folder[i];
    EXPECT_EQ(view.meta()["channels"], "left_right");
    EXPECT_TRUE(std::ranges::equal(view.target, to_int16(item.target)));
    ASSERT_EQ(std::ssize(view.codes), 4 * kItemFrames);
    EXPECT_EQ(std::ssize(view.reference_codes), std::ssize(view.reference) / kFrameSamples * 2);
    for (size_t t = 0; t < kItemFrames; ++t) {
      EXPECT_EQ(view.codes[4 * t], t);
      EXPECT_EQ(view.codes[4 * t + 1], t);
      EXPECT_EQ(view.codes[4 * t + 2], view.target[2 * t * kFrameSamples] > 0 ? 1 : 0);
      EXPECT_EQ(view.codes[4 * t + 3], view.target[2 * t * kFrameSamples + 1] > 0 ? 1 : 0);
    }
  }
}

TEST_F(Shards, OfMonoItemsSayNothingOfChannels) {
  make_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).channels(), audio::Channels::kMono);
  EXPECT_FALSE(read_json(folder_ / "shards.json")["options"]["items"].contains("channels"));
  EXPECT_FALSE(ItemFolder(folder_)[0].meta().contains("channels"));
}

TEST_F(Shards, AreKeptWhenWholeAndMadeAgainWhenNot) {
  make_items(folder_, options_);
  const auto before = hashes();
  const auto first_time = fs::last_write_time(shard(0));
  fs::resize_file(shard(1), 1000);
  fs::remove(shard(2));
  EXPECT_THROW(ItemFolder{folder_}, Error);
  make_items(folder_, options_);
  EXPECT_EQ(fs::last_write_time(shard(0)), first_time);
  EXPECT_EQ(hashes(), before);
  EXPECT_EQ(ItemFolder(folder_).size(), 5);
}

TEST_F(Shards, GrowWithTheCountAndServeASmallerOne) {
  make_items(folder_, options_);
  const auto first_time = fs::last_write_time(shard(0));
  options_.count = 8;
  make_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).size(), 8);
  options_.count = 3;
  make_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).size(), 8);
  EXPECT_EQ(fs::last_write_time(shard(0)), first_time);
}

TEST_F(Shards, ServeASmallerCountInsideTheLastOneToo) {
  options_.items_per_shard = 4;
  options_.count = 3;
  make_items(folder_, options_);
  options_.count = 2;
  make_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).size(), 3);
}

TEST_F(Shards, AreTheSameBytesWithOneThreadAndInTwoProcesses) {
  const auto expected = expected_hashes();
  options_.threads = 1;
  EXPECT_FALSE(make_items(folder_, options_, {.rank = {1, 2}}));
  EXPECT_EQ(error_of([&] { ItemFolder{folder_}; }).code(), ExitCode::kTemporary);
  EXPECT_TRUE(make_items(folder_, options_, {.rank = {0, 2}}));
  EXPECT_EQ(hashes(), expected);
}

TEST_F(Shards, AreTheSameBytesWhenTheyWereInterruptedAndAnotherNumberOfProcessesGoesOn) {
  const auto expected = expected_hashes();
  std::atomic<int> asked = 0;
  const MakeTools interrupted{.rank = {0, 3}, .should_stop = [&] { return ++asked > 3; }};
  options_.count = 8;  // rank 0 has shards 0 and 3; it stops in shard 3
  options_.threads = 1;
  EXPECT_FALSE(make_items(folder_, options_, interrupted));
  EXPECT_TRUE(fs::exists(shard(0)));
  EXPECT_FALSE(fs::exists(shard(3)));
  const auto first_time = fs::last_write_time(shard(0));
  options_.count = 5;
  EXPECT_FALSE(make_items(folder_, options_, {.rank = {1, 2}}));
  EXPECT_TRUE(make_items(folder_, options_, {.rank = {0, 2}}));
  EXPECT_EQ(fs::last_write_time(shard(0)), first_time);
  EXPECT_EQ(hashes(), expected);
}

TEST_F(Shards, AreVerifiedByTheirHashes) {
  make_items(folder_, options_);
  EXPECT_EQ(verify_shards(folder_, 2).size(), 0U);
  std::string bytes = read_file(shard(1));
  bytes[bytes.size() / 2] ^= 1;
  write_file(shard(1), bytes);
  fs::resize_file(shard(0), 1000);
  fs::remove(shard(2));
  const auto faults = verify_shards(folder_, 2);
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].name, "items-000000.tar");
  EXPECT_THAT(faults[0].what, HasSubstr("1000 bytes instead of"));
  EXPECT_EQ(faults[1].what, "has another SHA-256");
  EXPECT_EQ(faults[2].what, "is missing");
}

// notes.json of earlier releases had no notes of the reference.
TEST_F(Shards, OfEarlierReleasesMustBeMadeAgainForTheNotesOfReferences) {
  const std::string melody = R"([{"start": 0, "end": 1, "pitch": 60, "amplitude": 0.5}])";
  const std::string json = fmt::format(R"({{"melody": {0}, "played": {0}}})", melody);
  const ItemView item{.index = 7, .notes_json = json};
  EXPECT_EQ(std::ssize(item.notes().melody), 1);
  const Error error = error_of([&] { (void)item.reference_notes(); });
  EXPECT_EQ(error.code(), ExitCode::kBadData);
  EXPECT_THAT(error.what(), HasSubstr("item 7: the notes of its reference"));
  EXPECT_THAT(error.what(), HasSubstr("hint: an earlier release made these items; make new ones"));
}

TEST_F(Shards, RefuseToMixOptions) {
  make_items(folder_, options_);
  options_.items.seed = 2;
  EXPECT_EQ(error_of([&] { make_items(folder_, options_); }).code(), ExitCode::kUsage);
}

TEST_F(Shards, NameTheirTranscriberIfItHasAName) {
  make_items(folder_, options_);
  EXPECT_FALSE(read_manifest(folder_).options.contains("heard_by"));
  const MakeTools ear{.heard_by = "ear 0123"};
  EXPECT_EQ(error_of([&] { make_items(folder_, options_, ear); }).code(), ExitCode::kUsage);
  fs::remove_all(folder_);
  make_items(folder_, options_, ear);
  EXPECT_EQ(read_manifest(folder_).options["heard_by"], "ear 0123");
  EXPECT_EQ(ItemFolder(folder_).size(), options_.count);
}

TEST_F(Shards, SayThatItemsOfAnEarlierReleaseMustBeMadeAgain) {
  fs::create_directories(folder_);
  write_file(folder_ / "items.json", R"({"version": 1, "count": 5})");
  const Error read = error_of([&] { ItemFolder{folder_}; });
  EXPECT_EQ(read.code(), ExitCode::kBadData);
  EXPECT_THAT(read.what(), HasSubstr("hint: make new ones: hum data make"));
  EXPECT_EQ(error_of([&] { make_items(folder_, options_); }).code(), ExitCode::kUsage);
  EXPECT_EQ(error_of([&] { ItemFolder{folder_ / "nowhere"}; }).code(), ExitCode::kNoInput);
}

TEST_F(Shards, NameTheDamagedShardWhenItIsRead) {
  make_items(folder_, options_);
  std::string bytes = read_file(shard(1));
  bytes.replace(0, 8, "NOTITEMS");
  write_file(shard(1), bytes);
  const ItemFolder folder(folder_);
  EXPECT_EQ(folder[1].index, 1U);
  const Error error = error_of([&] { folder[2]; });
  EXPECT_EQ(error.code(), ExitCode::kBadData);
  EXPECT_THAT(error.what(), HasSubstr("items-000001.tar"));
  EXPECT_EQ(folder[4].index, 4U);
}

TEST_F(Shards, HoldTheCodecsTokensOfTargetAndReference) {
  make_items(folder_, options_, {.encoder = simple_encoder()});
  const ItemFolder folder(folder_);
  EXPECT_EQ(folder.codec(), std::string(64, 'f'));
  for (int64_t i = 0; i < folder.size(); ++i) {
    const ItemView& item = folder[i];
    ASSERT_EQ(std::ssize(item.codes), 2 * kItemFrames);
    const auto frames = static_cast<int64_t>(item.reference.size()) / kFrameSamples;
    ASSERT_EQ(std::ssize(item.reference_codes), 2 * frames);
    for (int64_t t = 0; t < kItemFrames; ++t) {
      const auto row = static_cast<size_t>(2 * t), sample = static_cast<size_t>(t * kFrameSamples);
      EXPECT_EQ(item.codes[row], t);
      EXPECT_EQ(item.codes[row + 1], item.target[sample] > 0 ? 1 : 0);
      if (t >= frames) continue;
      EXPECT_EQ(item.reference_codes[row], t);
      EXPECT_EQ(item.reference_codes[row + 1], item.reference[sample] > 0 ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace hum::data
