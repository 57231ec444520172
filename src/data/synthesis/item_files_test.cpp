#include "data/synthesis/item_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

class ItemFiles : public ::testing::Test {
 protected:
  ItemFiles() : folder_(fs::temp_directory_path() / fmt::format("hum-items-{}", getpid())) {
    fs::remove_all(folder_);
    options_.items.presets = {"flute", "piano"};
    options_.count = 5;
    options_.items_per_file = 2;
    options_.threads = 2;
  }
  ~ItemFiles() override { fs::remove_all(folder_); }

  fs::path file(int i) const { return folder_ / fmt::format("items-{:05}.bin", i); }

  fs::path folder_;
  WriteOptions options_;
};

TEST_F(ItemFiles, GiveBackWhatWasRendered) {
  write_items(folder_, options_);
  const ItemFolder folder(folder_);
  ASSERT_EQ(folder.size(), 5);
  EXPECT_THAT(folder.presets(), ::testing::ElementsAre("flute", "acoustic-grand-piano"));
  ItemMaker maker(options_.items);
  for (int64_t i = 0; i < 5; ++i) {
    const auto item = maker.make(static_cast<uint64_t>(i));
    const auto view = folder[i];
    EXPECT_EQ(view.index, item.index);
    EXPECT_EQ(view.preset, item.preset);
    EXPECT_EQ(view.mode, item.mode);
    EXPECT_EQ(view.defective, item.defective);
    EXPECT_EQ(view.melody, item.melody);
    EXPECT_EQ(view.played, item.played);
    EXPECT_TRUE(std::ranges::equal(view.features, item.features));
    std::vector<float> target(view.target.size());
    to_float(view.target, target);
    ASSERT_EQ(target.size(), item.target.size());
    for (size_t k = 0; k < target.size(); ++k) ASSERT_NEAR(target[k], item.target[k], 2e-5);
    EXPECT_EQ(view.reference.size(), item.reference.size());
  }
}

TEST_F(ItemFiles, AreKeptWhenWholeAndRenderedAgainWhenNot) {
  write_items(folder_, options_);
  const std::string second = read_file(file(1));
  const auto first_time = fs::last_write_time(file(0));
  fs::resize_file(file(1), 1000);
  fs::remove(file(2));
  EXPECT_THROW(ItemFolder{folder_}, Error);
  write_items(folder_, options_);
  EXPECT_EQ(fs::last_write_time(file(0)), first_time);
  EXPECT_EQ(read_file(file(1)), second);
  EXPECT_EQ(ItemFolder(folder_).size(), 5);
}

TEST_F(ItemFiles, GrowWithTheCountAndServeASmallerOne) {
  write_items(folder_, options_);
  const auto first_time = fs::last_write_time(file(0));
  options_.count = 8;
  write_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).size(), 8);
  options_.count = 3;
  write_items(folder_, options_);
  EXPECT_EQ(ItemFolder(folder_).size(), 8);
  EXPECT_EQ(fs::last_write_time(file(0)), first_time);
}

TEST_F(ItemFiles, AreTheSameBytesWithOneThread) {
  write_items(folder_, options_);
  const auto bytes = read_file(file(1));
  fs::remove_all(folder_);
  options_.threads = 1;
  write_items(folder_, options_);
  EXPECT_EQ(read_file(file(1)), bytes);
}

TEST_F(ItemFiles, RefuseToMixOptions) {
  write_items(folder_, options_);
  options_.items.seed = 2;
  EXPECT_THROW(write_items(folder_, options_), Error);
}

TEST_F(ItemFiles, NameTheDamagedFile) {
  write_items(folder_, options_);
  std::string bytes = read_file(file(1));
  bytes.replace(0, 8, "NOTITEMS");
  write_file(file(1), bytes);
  try {
    ItemFolder{folder_};
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("items-00001.bin"));
  }
  EXPECT_THROW(ItemFolder(folder_ / "nowhere"), Error);
}

TEST_F(ItemFiles, RefuseAnItemThatReachesPastTheFile) {
  write_items(folder_, options_);
  std::string bytes = read_file(file(0));
  const uint64_t offset = bytes.size() - 16;
  bytes.replace(40, 8, reinterpret_cast<const char*>(&offset), 8);
  write_file(file(0), bytes);
  const ItemFolder folder(folder_);
  EXPECT_THROW(folder[0], Error);
  EXPECT_EQ(folder[1].index, 1U);
}

}  // namespace
}  // namespace hum::data
