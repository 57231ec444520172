// A restored backup may belong to another user, or be open to all.
#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "base/error.h"
#include "base/testing/refusal.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

constexpr fs::perms kReadOnly = fs::perms::owner_read | fs::perms::owner_exec |
                                fs::perms::group_read | fs::perms::group_exec |
                                fs::perms::others_read | fs::perms::others_exec;

// The files that this thread opens are opened for another user: root may write to any.
class OtherUser {
 public:
  explicit OtherUser(const fs::path& folder) : user_(::geteuid()) {
    constexpr uid_t kNobody = 65534;
    fs::permissions(folder, fs::perms::all);
    if (user_ == 0) ::setfsuid(kNobody);
  }
  ~OtherUser() { ::setfsuid(user_); }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;

 private:
  uid_t user_;
};

using PermissionsTest = testing::RecordsTest;

TEST_F(PermissionsTest, AFileThatMayOnlyBeReadIsRefused) {
  accept(*std::make_unique<SqliteRecords>(file()));
  fs::permissions(file(), kReadOnly);
  const OtherUser other(scratch_.path());
  try {
    SqliteRecords records(file());
    FAIL() << "each change would fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoPermission);
    EXPECT_THAT(error.what(), HasSubstr(file().string()));
    EXPECT_THAT(error.hint(), HasSubstr("must own the file"));
  }
}

TEST_F(PermissionsTest, FoldersThatMayOnlyBeReadAreRefused) {
  const auto expect_refused = [&](const fs::path& folder, const auto& open) {
    fs::permissions(folder, kReadOnly);
    const OtherUser other(scratch_.path());
    EXPECT_EQ(hum::testing::code_of(open), ExitCode::kNoPermission);
    EXPECT_THAT(hum::testing::message_of(open), HasSubstr(folder.string()));
  };
  const fs::path sounds = scratch_ / "data/sounds";
  FolderStore{sounds};
  for (const char* other : {"aside", "uploads"}) fs::permissions(sounds / other, fs::perms::all);
  expect_refused(sounds / "jobs", [&] { FolderStore{sounds}; });
  expect_refused(scratch_ / "data", [&] { open_data_folder(scratch_ / "data"); });
}

TEST_F(PermissionsTest, OnlyTheOwnerMayReadARestoredCopy) {
  accept(*std::make_unique<SqliteRecords>(file()));
  fs::permissions(file(), fs::perms::others_read, fs::perm_options::add);
  const SqliteRecords records(file());
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const auto status = fs::status(file().string() + suffix);
    EXPECT_EQ(status.permissions() & fs::perms::others_all, fs::perms::none) << suffix;
  }
}

}  // namespace
}  // namespace hum::serve
