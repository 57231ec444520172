#include "base/atomic_folder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/testing/refusal.h"

namespace hum {
namespace {

namespace fs = std::filesystem;
using testing::code_of;
using ::testing::ElementsAre;

class AtomicFolderTest : public ::testing::Test {
 protected:
  AtomicFolderTest() : root_(fs::temp_directory_path() / fmt::format("hum-folder-{}", ::getpid())) {
    fs::create_directories(root_ / "run");
    write_file(root_ / "run/old", "old");
  }
  ~AtomicFolderTest() override { fs::remove_all(root_); }

  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      result.insert(entry.path().lexically_relative(root_).string());
    }
    return result;
  }
  fs::path root_;
};

TEST_F(AtomicFolderTest, WithoutCommitLeavesNoParentThatItCreated) {
  { const AtomicFolder folder(root_ / "new/deep/run"); }
  EXPECT_FALSE(fs::exists(root_ / "new"));
  {
    AtomicFolder folder(root_ / "new/deep/run");
    folder.commit();
  }
  EXPECT_TRUE(fs::exists(root_ / "new/deep/run"));
}

TEST_F(AtomicFolderTest, TakesThePlaceOfAnOlderOneAsAWhole) {
  AtomicFolder folder(root_ / "run/");
  write_file(folder.temporary_path() / "new", "new");
  EXPECT_TRUE(names().contains("run/old"));
  folder.commit();
  EXPECT_THAT(names(), ElementsAre("run", "run/new"));
}

TEST_F(AtomicFolderTest, TakesThePlaceOfTheFolderOneIsIn) {
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "run");
  AtomicFolder folder(".");
  write_file(folder.temporary_path() / "new", "new");
  folder.commit();
  fs::current_path(before);
  EXPECT_THAT(names(), ElementsAre("run", "run/new"));
}

TEST_F(AtomicFolderTest, DoesNotTakeThePlaceOfAnotherKind) {
  EXPECT_EQ(code_of([&] { AtomicFolder(root_ / "run", "config.json"); }), ExitCode::kCannotCreate);
  EXPECT_EQ(code_of([&] { AtomicFolder(root_ / "run/old", "config.json"); }),
            ExitCode::kCannotCreate);
  EXPECT_THAT(names(), ElementsAre("run", "run/old"));
  AtomicFolder(root_ / "run", "old").commit();
  AtomicFolder(root_ / "run", "config.json").commit();  // it is empty now
  EXPECT_THAT(names(), ElementsAre("run"));
}

TEST_F(AtomicFolderTest, LeavesNothingWhenNotCommitted) {
  {
    const AtomicFolder folder(root_ / "run"), fresh(root_ / "deeper/fresh");
    write_file(folder.temporary_path() / "new", "new");
  }
  EXPECT_THAT(names(), ElementsAre("run", "run/old"));
}

TEST_F(AtomicFolderTest, RemovesWhatKilledProcessesLeft) {
  constexpr int kNoProcess = (1 << 22) + 1;  // above Linux' largest process number
  const auto left = [&](const std::string& of, int process) {
    const std::string name = fmt::format(".{}.aside-{}", of, process);
    fs::create_directories(root_ / name / "part");
    return name;
  };
  left("run", kNoProcess);
  left("run", ::getpid());
  const std::string living = left("run", 1), other = left("other", kNoProcess);
  { const AtomicFolder folder(root_ / "run"); }
  EXPECT_THAT(names(),
              ElementsAre(other, other + "/part", living, living + "/part", "run", "run/old"));
}

TEST_F(AtomicFolderTest, IsContinuedIfWhatItHoldsIsWorthKeeping) {
  const auto unfinished = [&] {
    return AtomicFolder(root_ / "run", "old", "part").temporary_path();
  };
  const fs::path aside = unfinished();
  EXPECT_THAT(names(), ElementsAre("run", "run/old"));  // nothing was
  fs::create_directories(aside);
  write_file(aside / "rest", "of a killed process");
  EXPECT_EQ(unfinished(), aside);
  EXPECT_FALSE(fs::exists(aside));
  {
    const AtomicFolder folder(root_ / "run", "old", "part");
    write_file(aside / "part", "1");
    EXPECT_EQ(code_of([&] { AtomicFolder(root_ / "run", "old", "part"); }), ExitCode::kTemporary);
  }
  AtomicFolder folder(root_ / "run", "old", "part");
  EXPECT_EQ(read_file(aside / "part"), "1");
  folder.commit();
  EXPECT_THAT(names(), ElementsAre("run", "run/part"));
}

TEST_F(AtomicFolderTest, PlaceThatCannotBeWrittenIsAnErrorWithAHint) {
  try {
    const AtomicFolder folder(root_ / "run/old/folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kCannotCreate);
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace hum
