#include "base/child_process.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ProcessEnd run(std::vector<std::string> words, milliseconds limit) {
  return ChildProcess({.words = std::move(words)}, {}).end(limit);
}

TEST(ChildProcess, TellsItsExitCode) {
  EXPECT_EQ(run({"/bin/sh", "-c", "exit 3"}, seconds(60)).exit_code, 3);
}

TEST(ChildProcess, RunsInItsFolderWithItsEnvironmentAlone) {
  const ScratchFolder scratch;
  const std::string test = "[ \"$(pwd)\" = \"$PLACE\" ] && [ -z \"$HOME\" ]";
  ChildProcess child({.words = {"/bin/sh", "-c", test},
                      .environment = {{"PLACE", scratch.path()}},
                      .folder = scratch.path()},
                     {});
  EXPECT_EQ(child.end(seconds(60)).exit_code, 0);
}

TEST(ChildProcess, IsKilledAtItsLimitAndCollected) {
  const ProcessEnd end = run({"/bin/sleep", "60"}, milliseconds(200));
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, AProgramThatCannotBeStartedIsNamed) {
  try {
    run({"/nonexistent"}, seconds(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnavailable);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/nonexistent"));
  }
}

}  // namespace
}  // namespace hum
