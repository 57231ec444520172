#include "decode/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/testing/refusal.h"
#include "decode/child_entry_test.h"

namespace hum::decode {
namespace {

TEST(Sandbox, ADecoderIsKilledAtAnythingButDecoding) {
  for (const char* misdeed :
       {"open", "open system file", "create", "create by reading", "remove", "socket",
        "local socket", "fork", "thread", "run", "trace", "kill parent", "map code"}) {
    const ProcessEnd ending = try_misdeed("decoder", misdeed);
    EXPECT_EQ(ending.signal, SIGSYS) << misdeed << ", exit code " << ending.exit_code;
    // The same is possible outside, so that the test is one of the sandbox.
    if (std::string_view(misdeed) == "remove") continue;
    const ProcessEnd free = try_misdeed("none", misdeed);
    EXPECT_EQ(free.signal, 0) << misdeed;
    EXPECT_TRUE(free.exit_code == kWentThrough || free.exit_code == 0) << misdeed;
  }
  std::filesystem::remove("/tmp/hum-misdeed");
  EXPECT_EQ(try_misdeed("decoder", "nothing").exit_code, kWentThrough);
}

TEST(Sandbox, ADecodersMemoryTimeAndFilesAreLimited) {
  EXPECT_EQ(try_misdeed("decoder", "spin").signal, SIGXCPU);
  EXPECT_EQ(try_misdeed("decoder", "short file").exit_code, kWentThrough);
  EXPECT_EQ(try_misdeed("decoder", "long file").signal, SIGXFSZ);
  if (kHasSanitizer) return;
  EXPECT_EQ(try_misdeed("decoder", "some memory").exit_code, kWentThrough);
  EXPECT_EQ(try_misdeed("decoder", "much memory").exit_code, kRefused);
}

TEST(Sandbox, ADecoderCanCrashWithoutFurtherHarm) {
  EXPECT_EQ(try_misdeed("decoder", "abort").signal, SIGABRT);
  EXPECT_NE(try_misdeed("decoder", "crash").signal, 0);
}

TEST(Sandbox, AProgramComputesAndReadsSystemFiles) {
  if (kHasSanitizer) GTEST_SKIP() << "a program with a sanitizer needs terabytes of memory";
  for (const char* deed : {"nothing", "open system file", "thread", "some memory"}) {
    const ProcessEnd ending = try_misdeed("program", deed);
    EXPECT_EQ(ending.exit_code, kWentThrough) << deed << ", signal " << ending.signal;
  }
}

TEST(Sandbox, AProgramIsRefusedTheRest) {
  if (kHasSanitizer) GTEST_SKIP() << "a program with a sanitizer needs terabytes of memory";
  for (const char* misdeed : {"create", "create by reading", "remove", "socket", "local socket",
                              "fork", "run", "trace", "kill parent"}) {
    const ProcessEnd ending = try_misdeed("program", misdeed);
    EXPECT_EQ(ending.exit_code, kRefused) << misdeed << ", signal " << ending.signal;
  }
  EXPECT_EQ(try_misdeed("program", "spin").signal, SIGXCPU);
  EXPECT_EQ(try_misdeed("program", "long file").signal, SIGXFSZ);
}

TEST(Sandbox, AProgramCannotReadOtherFilesWhereThereIsLandlock) {
  if (kHasSanitizer) GTEST_SKIP() << "a program with a sanitizer needs terabytes of memory";
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(try_misdeed("program", "open").exit_code, kRefused);
  EXPECT_EQ(try_misdeed("program", "open other file").exit_code, kRefused);
}

TEST(Sandbox, AChildDiesWithItsParent) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const ProcessEnd parent =
      try_misdeed("none", "wait for a child", pipe_ends[1], std::chrono::seconds(1));
  EXPECT_EQ(parent.signal, SIGKILL);
  // The pipe ends when its last writer has ended: the child's child.
  ::close(pipe_ends[1]);
  pollfd end{pipe_ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10'000), 1);
  ::close(pipe_ends[0]);
}

TEST(Sandbox, AChildInheritsOnlyTheFilesThatItIsGiven) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);  // these would be inherited
  EXPECT_EQ(try_misdeed("none", "descriptors").exit_code, 4);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace
}  // namespace hum::decode
