// The list of shards in PostgreSQL: who may use it beside whom, and what a lost connection does.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "app/extraction/extract_upkeep.h"
#include "app/extraction/test_postgres_table.h"
#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum::app {
namespace {

// A folder in which something happens after the first removal.
class InterruptedStore : public FolderStore {
 public:
  InterruptedStore(std::filesystem::path folder, std::function<void()> interruption)
      : FolderStore(std::move(folder)), interruption_(std::move(interruption)) {}
  bool remove(const std::string& name) override {
    const bool was_there = FolderStore::remove(name);
    if (const auto interruption = std::exchange(interruption_, nullptr)) interruption();
    return was_there;
  }

 private:
  std::function<void()> interruption_;
};

// A removal of many shards has the list alone for longer than a lease lasts.
TEST_F(PostgresTableTest, RenewsALeaseWhileItWaitsForTheList) {
  create_recordings(1);
  auto table = open(), other = open();
  table.sync({});
  const Claim claim = table.claim(1);
  const RecordingResult result[] = {{.number = claim.recordings.at(0).number}};
  std::future<bool> finished;
  other.with_shards([&](std::span<const TableShard>) {
    finished = std::async(std::launch::async, [&] {
      return table.announce(claim.lease, "a.tar") &&
             table.finish(claim.lease, result, std::nullopt);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_TRUE(table.renew(claim.lease));
    EXPECT_NE(finished.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  });
  EXPECT_TRUE(finished.get());
  EXPECT_EQ(table.counts().done, 1);
}

TEST_F(PostgresTableTest, RemovesNoShardThatIsListedOnceItsConnectionIsLost) {
  create_recordings(1);
  auto table = open();
  table.sync({});
  std::vector<data::ShardEntry> abandoned = {shard_entry("a", 1), shard_entry("b", 1),
                                             shard_entry("c", 1)};
  std::ranges::sort(abandoned, {}, &data::ShardEntry::name);  // the order of their removal
  const ScratchFolder folder;
  InterruptedStore store(folder.path(), [&] {
    owner_.query(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
    auto other = open();
    const Claim claim = other.claim(1);
    const RecordingResult result[] = {
        {.number = claim.recordings.at(0).number, .windows = {1, 0, 0}}};
    ASSERT_TRUE(other.announce(claim.lease, abandoned[1].name));
    ASSERT_TRUE(other.finish(claim.lease, result, abandoned[1]));
  });
  for (const auto& entry : abandoned) write_file(folder.path() / entry.name, "bytes");
  const CollectedGarbage garbage = remove_unlisted(table, store);
  EXPECT_EQ(garbage.files, 2);
  EXPECT_EQ(garbage.bytes, 10);
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.list()[0].name, abandoned[1].name);
}

}  // namespace
}  // namespace hum::app
