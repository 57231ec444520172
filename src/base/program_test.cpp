#include "base/program.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/scratch_folder.h"

namespace hum {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(Program, ReturnsItsOutputAndExitCode) {
  const ScratchFolder scratch;
  const auto end = run_program({"/bin/sh", "-c", "pwd; echo $SONG; cat; env >&2; exit 3"},
                               scratch.path(), {{"SONG", "a b"}}, seconds(60));
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.timed_out);
  EXPECT_THAT(end.output, HasSubstr(scratch.path().string() + "\na b\n"));
  EXPECT_THAT(end.output, ::testing::Not(HasSubstr("HOME=")));
}

TEST(Program, IsKilledAtItsLimit) {
  const ScratchFolder scratch;
  const auto end =
      run_program({"/bin/sleep", "600"}, scratch.path(), {}, std::chrono::milliseconds(50));
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.exit_code, 128 + 9);
}

TEST(Program, AMissingOneIsNamed) {
  const ScratchFolder scratch;
  try {
    run_program({"/usr/bin/no-such-program"}, scratch.path(), {}, seconds(60));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnavailable);
    EXPECT_THAT(error.what(), HasSubstr("no-such-program"));
  }
}

}  // namespace
}  // namespace hum
