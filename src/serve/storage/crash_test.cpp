// Records under processes that compete and are killed.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/owner_lock.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using testing::RecordsTest;
using testing::some_job;

// Runs `work` in a child process.
template <class Work>
pid_t in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

void wait_for(pid_t child) {
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

// Whole lines of a file that a process may be writing.
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return lines;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line) && !text.eof();) lines.push_back(line);
  return lines;
}

class CrashTest : public RecordsTest {
 protected:
  std::filesystem::path log(int number) const {
    return scratch_ / ("log" + std::to_string(number));
  }
  void append(int number, const std::string& line) const {
    std::FILE* file = std::fopen(log(number).c_str(), "a");
    std::fputs((line + "\n").c_str(), file);
    std::fclose(file);
  }
};

TEST_F(CrashTest, TwoProcessesNeverLeaseTheSameJob) {
  constexpr size_t kJobs = 150;
  std::vector<pid_t> children;
  {
    SqliteRecords records(file());
    for (size_t i = 0; i < kJobs; ++i) accept(records);
  }
  for (int number = 0; number < 3; ++number) {
    children.push_back(in_child([&] {
      SqliteRecords records(file());
      while (const auto claimed = records.claim("w" + std::to_string(number))) {
        append(number, claimed->first.request.id);
        if (!records.finish(claimed->second, Json::array())) append(number, "lost");
      }
    }));
  }
  for (const pid_t child : children) wait_for(child);
  std::set<std::string> ids;
  size_t lines = 0;
  for (int number = 0; number < 3; ++number) {
    const auto leased = lines_of(log(number));
    ids.insert(leased.begin(), leased.end());
    lines += leased.size();
  }
  EXPECT_EQ(lines, kJobs);
  EXPECT_EQ(ids.size(), kJobs);
  SqliteRecords records(file());
  EXPECT_EQ(records.counts().done, static_cast<int64_t>(kJobs));
}

TEST_F(CrashTest, WhatWasAcceptedBeforeAKillIsThere) {
  for (int round = 0; round < 5; ++round) {
    const pid_t child = in_child([&] {
      SqliteRecords records(file());
      while (true) {
        const auto job = some_job();
        if (records.accept(job, {}, std::nullopt).outcome == Acceptance::kAccepted) {
          append(round, job.id);
        }
      }
    });
    while (lines_of(log(round)).size() < 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child, SIGKILL);
    wait_for(child);
    SqliteRecords records(file());
    for (const std::string& id : lines_of(log(round))) {
      ASSERT_TRUE(records.any_job(id)) << id;
    }
  }
}

TEST_F(CrashTest, TheJobOfAKilledOwnerIsQueuedAgain) {
  SqliteRecords records(file(), {.first_backoff = std::chrono::milliseconds(0)});
  const std::string id = accept(records);
  const auto locks = scratch_.path() / "locks";
  const auto is_dead = [&](const std::string& owner) { return is_unlocked(locks, owner); };
  const pid_t child = in_child([&] {
    const OwnerLock alive(locks, "victim");
    SqliteRecords own(file());
    own.claim("victim");
    append(0, "claimed");
    ::pause();
  });
  while (lines_of(log(0)).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(records.sweep(is_dead).requeued, 0) << "it lives";
  ::kill(child, SIGKILL);
  wait_for(child);
  EXPECT_EQ(records.sweep(is_dead).requeued, 1);
  EXPECT_FALSE(std::filesystem::exists(locks / "victim.lock"));
  const auto claimed = records.claim("next");
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->second.job, id);
  EXPECT_EQ(claimed->second.attempt, 2);
}

// The commands below "- *Restore*" in docs/service.md, for this folder.
std::string documented_restore(const std::string& folder) {
  std::istringstream lines(read_file(source_folder() / "docs/service.md"));
  std::string commands;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("- ")) is_inside = line.starts_with("- *Restore*");
    if (is_inside && line.starts_with("      ")) commands += line + '\n';
  }
  for (size_t at = 0; (at = commands.find("DIR", at)) != commands.npos; at += folder.size()) {
    commands.replace(at, 3, folder);
  }
  return commands;
}

TEST_F(CrashTest, TheDocumentedRestoreUndoesWhatCameAfterTheBackup) {
  const std::filesystem::path backup = scratch_ / "backup";
  std::filesystem::create_directories(backup / "sounds");
  std::string before;
  {
    SqliteRecords records(file());
    before = accept(records);
  }
  Database(file(), true).run("VACUUM INTO ?", (backup / "copy.sqlite").string());
  const pid_t child = in_child([&] {
    SqliteRecords records(file());
    records.remove_job("", before);
    for (int i = 0; i < 20; ++i) append(0, accept(records));
    ::raise(SIGKILL);
  });
  wait_for(child);
  ASSERT_TRUE(std::filesystem::exists(file().string() + "-wal")) << "it was killed";
  const std::string commands =
      "set -e\ncd " + backup.string() + '\n' + documented_restore(scratch_.path().string());
  SCOPED_TRACE(commands);
  ASSERT_EQ(std::system(commands.c_str()), 0);
  SqliteRecords records(file());
  EXPECT_TRUE(records.any_job(before));
  EXPECT_EQ(records.counts().queued, 1) << "the log of the killed server was replayed";
}

TEST_F(CrashTest, ALockHasOneOwner) {
  const auto locks = scratch_.path() / "locks";
  {
    const OwnerLock first(locks, "server");
    EXPECT_FALSE(is_unlocked(locks, "server"));
    try {
      const OwnerLock second(locks, "server", "another hum serve uses DIR");
      ADD_FAILURE() << "two owners";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(),
                fmt::format("another hum serve uses DIR (process {})", ::getpid()));
    }
  }
  EXPECT_TRUE(is_unlocked(locks, "server"));
  const OwnerLock again(locks, "server");
}

}  // namespace
}  // namespace hum::serve
