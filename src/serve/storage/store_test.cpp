#include "serve/storage/store.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using ::testing::ElementsAre;
using testing::RecordsTest;
using testing::some_upload;

class StoreTest : public RecordsTest {
 protected:
  // Puts a file with this content.
  void put(const std::string& key, const std::string& bytes) {
    const auto file = store_.aside() / "new";
    write_file(file, bytes);
    store_.put(key, file);
    EXPECT_FALSE(std::filesystem::exists(file)) << "it was moved";
  }
  std::vector<std::string> keys(const std::string& prefix) const {
    std::vector<std::string> keys;
    for (const auto& entry : store_.list(prefix)) keys.push_back(entry.key);
    return keys;
  }

  FolderStore store_{scratch_.path() / "sounds"};
};

TEST_F(StoreTest, WhatIsPutIsFoundUntilItIsRemoved) {
  EXPECT_FALSE(store_.find("jobs/a1/take-1.wav"));
  put("jobs/a1/take-1.wav", "one");
  put("jobs/a1/take-1.wav", "two");
  EXPECT_EQ(read_file(*store_.find("jobs/a1/take-1.wav")), "two");
  put("jobs/a1/melody.mid", "m");
  put("jobs/b2/melody.mid", "m");
  EXPECT_THAT(keys("jobs"),
              ElementsAre("jobs/a1/melody.mid", "jobs/a1/take-1.wav", "jobs/b2/melody.mid"));
  store_.remove("jobs/a1/melody.mid");
  store_.remove("jobs/a1/melody.mid");
  EXPECT_THAT(keys("jobs/a1"), ElementsAre("jobs/a1/take-1.wav"));
  store_.remove_all("jobs/a1");
  EXPECT_THAT(keys("jobs"), ElementsAre("jobs/b2/melody.mid"));
  EXPECT_FALSE(store_.find("jobs/a1/take-1.wav"));
}

TEST_F(StoreTest, OtherNamesAreNoKeys) {
  for (const char* key : {"", "/etc/passwd", "jobs/../x", "jobs/A", "jobs/a b", "jobs/a\n"}) {
    EXPECT_THROW(static_cast<void>(store_.find(key)), Error) << key;
  }
}

TEST_F(StoreTest, AGrowingFileIsFoundWhileItIsWritten) {
  const auto path = store_.growing("jobs/a1/stream.wav");
  write_file(path, "RIFF");
  EXPECT_EQ(store_.find("jobs/a1/stream.wav"), path);
}

TEST_F(StoreTest, OldFilesAsideAreLeftOvers) {
  write_file(store_.aside() / "spooled", "x");
  create_folder(store_.aside() / "a-1");
  store_.clear_aside(std::chrono::hours(1));
  EXPECT_TRUE(std::filesystem::exists(store_.aside() / "spooled"));
  store_.clear_aside(std::chrono::milliseconds(-1000));
  EXPECT_TRUE(std::filesystem::is_empty(store_.aside()));
}

// The folder of a job that runs for an hour, or the first part of a form that takes as long.
TEST_F(StoreTest, WorkThatTakesLongIsNotALeftOver) {
  SqliteRecords records(file());
  const auto folder = store_.aside() / "a-1", spooled = store_.aside() / "upload-x";
  create_folder(folder);
  write_file(spooled, "x");
  const auto set_age = [&](std::chrono::hours age) {
    for (const auto& path : {folder, spooled}) {
      std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
    }
  };
  set_age(std::chrono::hours(1));
  remove_orphans(records, store_);
  EXPECT_TRUE(std::filesystem::exists(folder) && std::filesystem::exists(spooled));
  set_age(std::chrono::hours(25));
  remove_orphans(records, store_);
  EXPECT_TRUE(std::filesystem::is_empty(store_.aside()));
}

TEST_F(StoreTest, SoundsWithoutARecordAreRemovedWhenTheyAreOld) {
  SqliteRecords records(file());
  const std::string failed = accept(records), job = accept(records);
  records.fail_job(claimed(records), testing::kFault);
  const Upload upload = some_upload();
  records.add_upload(upload, std::nullopt);
  put(result_key(failed, kStreamName), "x");
  put(result_key(job, "take-1.wav"), "x");
  put(upload_key(upload.id), "x");
  put("jobs/0123/take-1.wav", "x");
  put("uploads/0123.wav", "x");
  remove_orphans(records, store_, std::chrono::hours(1));
  EXPECT_EQ(keys("jobs").size(), 3U) << "it may belong to a request that is being accepted";
  remove_orphans(records, store_, std::chrono::milliseconds(-1000));
  EXPECT_THAT(keys("jobs"), ElementsAre(result_key(job, "take-1.wav")));
  EXPECT_THAT(keys("uploads"), ElementsAre(upload_key(upload.id)));
}

}  // namespace
}  // namespace hum::serve
