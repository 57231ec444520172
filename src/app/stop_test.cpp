// Stop signals: a flag, or the end of the process where nothing needs saving.
#include "app/stop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <optional>

namespace hum::app {
namespace {

using ::testing::ExitedWithCode;

// Each runs in a child process, whose handlers and flag are its own.
TEST(StopSignals, AreAFlagWhileThereIsSomethingToSave) {
  EXPECT_EXIT(
      {
        install_stop_handler();
        std::optional<EndsAtOnce> nothing_to_save(std::in_place);
        nothing_to_save.reset();
        std::raise(SIGTERM);
        std::_Exit(stop_signal());
      },
      ExitedWithCode(SIGTERM), "");
}

TEST(StopSignals, EndTheProcessWhereNothingNeedsSaving) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          install_stop_handler();
          const EndsAtOnce nothing_to_save;
          std::raise(signal);
          std::_Exit(0);
        },
        ExitedWithCode(128 + signal), "");
  }
}

TEST(StopSignals, ThatCameBeforeCountToo) {
  EXPECT_EXIT(
      {
        install_stop_handler();
        std::raise(SIGINT);
        const EndsAtOnce nothing_to_save;
        std::_Exit(0);
      },
      ExitedWithCode(130), "");
}

}  // namespace
}  // namespace hum::app
