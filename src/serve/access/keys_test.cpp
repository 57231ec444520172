#include "serve/access/keys.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

class KeysTest : public ::testing::Test {
 protected:
  const ScratchFolder folder_;
  const fs::path file_ = folder_.path() / "keys.txt";
};

TEST_F(KeysTest, AKeyIsKnownByItsTokenOnly) {
  const std::string token = add_key(file_, "anna");
  EXPECT_EQ(token.size(), 68U) << "256 bits in hex";
  EXPECT_THAT(read_file(file_), Not(HasSubstr(token.substr(10))));
  KeyFile keys(file_);
  ASSERT_TRUE(keys.with_token(token));
  EXPECT_EQ(keys.with_token(token)->name, "anna");
  EXPECT_EQ(keys.with_token(token)->quota.jobs, kDefaultQuota.jobs);
  for (const std::string& other :
       {std::string(), token + "0", token.substr(0, 67), sha256(token)}) {
    EXPECT_FALSE(keys.with_token(other)) << other;
  }
}

TEST_F(KeysTest, ARunningServerNoticesWhatChanges) {
  const std::string first = add_key(file_, "anna"), other = add_key(file_, "ben");
  KeyFile keys(file_);
  remove_key(file_, "anna");
  EXPECT_FALSE(keys.with_token(first));
  EXPECT_FALSE(keys.with_name("anna"));
  EXPECT_TRUE(keys.with_token(other));
  const std::string second = add_key(file_, "anna");
  EXPECT_NE(second, first);
  EXPECT_EQ(keys.with_token(second)->name, "anna");
  EXPECT_FALSE(keys.with_token(first));
  write_file(file_, "nonsense\n");
  EXPECT_TRUE(keys.with_token(second)) << "a file that cannot be read changes nothing";
  fs::remove(file_);
  EXPECT_TRUE(keys.with_token(second));
}

TEST_F(KeysTest, AnEmptiedFileChangesNothingButTheLastKeyCanBeRemoved) {
  const std::string token = add_key(file_, "anna");
  const std::string line = read_file(file_);
  KeyFile keys(file_);
  write_file(file_, "");
  EXPECT_TRUE(keys.with_token(token));
  write_file(file_, line);
  EXPECT_TRUE(keys.with_token(token));
  remove_key(file_, "anna");
  EXPECT_FALSE(keys.with_token(token));
}

TEST_F(KeysTest, LimitsAreReadAndWritten) {
  add_key(file_, "anna", {.jobs = 3, .seconds_per_hour = 0, .bytes = 1'000'000});
  const auto keys = read_keys(file_);
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].quota.jobs, 3);
  EXPECT_EQ(keys[0].quota.seconds_per_hour, 0);
  EXPECT_EQ(keys[0].quota.bytes, 1'000'000);
  const std::string hash(64, 'a');
  write_file(file_, "# callers\n\nben sha256:" + hash + " bytes=1.5GB\n");
  EXPECT_EQ(read_keys(file_)[0].quota.bytes, 1'500'000'000);
  EXPECT_EQ(read_keys(file_)[0].quota.jobs, kDefaultQuota.jobs);
  add_key(file_, "cleo");
  remove_key(file_, "ben");
  EXPECT_THAT(read_file(file_), ::testing::StartsWith("# callers\n\ncleo sha256:"));
}

TEST_F(KeysTest, AWrongLineIsNamed) {
  const std::string hash(64, 'a');
  for (const std::string& line :
       {std::string("anna"), "anna " + hash, "anna sha256:" + hash.substr(1), "Anna sha256:" + hash,
        "anna sha256:" + hash + " jobs=-1", "anna sha256:" + hash + " jobs=2x",
        "anna sha256:" + hash + " bytes=lots", "anna sha256:" + hash + " takes=3",
        "anna sha256:" + hash + "\nanna sha256:" + std::string(64, 'b'),
        "anna sha256:" + hash + "\nben sha256:" + hash}) {
    write_file(file_, "# first line\n" + line + "\n");
    try {
      read_keys(file_);
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kConfig);
      EXPECT_THAT(error.message(), HasSubstr(line.find('\n') == line.npos ? ":2: " : ":3: "));
    }
  }
}

TEST_F(KeysTest, NamesAreCheckedAndUnique) {
  using hum::testing::code_of;
  add_key(file_, "anna");
  for (const char* name : {"anna", "", "Anna", "an na", "@presets", "a/b"}) {
    EXPECT_EQ(code_of([&] { add_key(file_, name); }), ExitCode::kUsage) << name;
  }
  EXPECT_EQ(code_of([&] { remove_key(file_, "ben"); }), ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { KeyFile(folder_.path() / "none"); }), ExitCode::kNoInput);
}

TEST_F(KeysTest, AnotherTokenKeepsTheLimitsAndTheLine) {
  const std::string first = add_key(file_, "anna", {.jobs = 3, .seconds_per_hour = 30, .bytes = 0});
  const std::string other = add_key(file_, "ben");
  write_file(file_, "# throttled\n" + read_file(file_));
  const std::string second = replace_token(file_, "anna");
  KeyFile keys(file_);
  EXPECT_FALSE(keys.with_token(first));
  ASSERT_TRUE(keys.with_token(second));
  EXPECT_EQ(keys.with_token(second)->quota.jobs, 3);
  EXPECT_EQ(keys.with_token(second)->quota.seconds_per_hour, 30);
  EXPECT_EQ(keys.with_token(second)->quota.bytes, 0);
  EXPECT_TRUE(keys.with_token(other));
  EXPECT_THAT(read_file(file_), ::testing::StartsWith("# throttled\nanna sha256:"));
  EXPECT_EQ(hum::testing::code_of([&] { replace_token(file_, "cleo"); }), ExitCode::kUsage);
}

TEST_F(KeysTest, WhoMayReadTheFileStays) {
  add_key(file_, "anna");
  fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  add_key(file_, "ben");
  EXPECT_EQ(fs::status(file_).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

}  // namespace
}  // namespace hum::serve
