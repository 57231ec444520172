#include "base/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(ChildProcess, WhatItStartedIsKilledWithIt) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OpenFile ours(ends[0]);
  {
    const OpenFile theirs(ends[1]);
    const int files[] = {theirs.descriptor(), theirs.descriptor()};
    ChildProcess child({.words = {"/bin/sh", "-c", "sleep 60 & sleep 60"}}, files);
    EXPECT_TRUE(child.end(milliseconds(300)).timed_out);
  }
  // The pipe ends when the last of its writers has ended.
  pollfd end{ours.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10'000), 1);
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
