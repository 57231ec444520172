#include "base/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/scratch_folder.h"

namespace hum {
namespace {

namespace fs = std::filesystem;

TEST(CreateUnique, MakesEmptyFilesThatOtherProgramsDoNotGet) {
  const ScratchFolder folder;
  const NewFile first = create_unique(folder.path(), "part-"),
                second = create_unique(folder.path(), "part-");
  EXPECT_NE(first.path, second.path);
  for (const NewFile* made : {&first, &second}) {
    ASSERT_TRUE(made->file.is_open());
    EXPECT_TRUE(made->path.filename().string().starts_with("part-"));
    EXPECT_EQ(fs::file_size(made->path), 0U);
    EXPECT_EQ(::fcntl(made->file.descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST(CreateUnique, SaysWhyItCannot) {
  const ScratchFolder folder;
  const NewFile made = create_unique(folder.path() / "missing", "part-");
  const int error = errno;
  EXPECT_FALSE(made.file.is_open());
  EXPECT_EQ(error, ENOENT);
}

TEST(OpenFile, KeepsItsDescriptorUntilItIsReleased) {
  const ScratchFolder folder;
  OpenFile file = create_unique(folder.path(), "").file;
  const int descriptor = file.release();
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(::close(descriptor), 0) << "it was still open";
}

}  // namespace
}  // namespace hum
