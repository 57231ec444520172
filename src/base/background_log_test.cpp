#include "base/background_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace hum {
namespace {

// A pipe that nobody reads until the test does.
struct Pipe {
  int read_end = -1, write_end = -1;

  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    ::close(read_end);
    if (write_end >= 0) ::close(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Fills it with empty lines, so that the next write waits.
  void fill() const {
    ::fcntl(write_end, F_SETFL, O_NONBLOCK);
    while (::write(write_end, "\n", 1) == 1) {
    }
    ::fcntl(write_end, F_SETFL, 0);
  }
  // Everything up to the end of this text, else up to the end of the pipe.
  std::string read_until(const std::string& text) const {
    std::string all;
    char byte = 0;
    while (!all.ends_with(text) && ::read(read_end, &byte, 1) == 1) all += byte;
    return all;
  }
};

TEST(WriteInBackground, WaitsForNobodyAndLosesNothing) {
  const Pipe pipe;
  EXPECT_EQ(write_in_background(pipe.write_end, "first\n"), 0);
  EXPECT_EQ(pipe.read_until("first\n"), "first\n");
  pipe.fill();
  EXPECT_EQ(write_in_background(pipe.write_end, "second\n"), 0);
  EXPECT_THAT(pipe.read_until("second\n"), ::testing::EndsWith("\nsecond\n"));
}

TEST(WriteInBackground, SaysWhyItCannotWrite) {
  const Pipe pipe;
  EXPECT_EQ(write_in_background(pipe.read_end, "text"), EBADF);
}

TEST(BackgroundLog, WritesWhatIsLogged) {
  const Pipe pipe;
  {
    const BackgroundLog log(pipe.write_end);
    spdlog::warn("first {}", 1);
    spdlog::error("second");
  }
  EXPECT_EQ(pipe.read_until("second\n"), "warning: first 1\nerror: second\n");
}

// Reads until it knows what became of all lines, which say their numbers.
void expect_lines(const Pipe& pipe, int lines) {
  constexpr size_t kText = std::string_view("warning: ").size();
  int known = 0, dropped = 0;
  while (known < lines) {
    const std::string line = pipe.read_until("\n");
    if (line == "\n") continue;
    ASSERT_GT(line.size(), kText);
    const int number = std::stoi(line.substr(kText));
    if (line.find("lines were dropped") != std::string::npos) {
      dropped += number;
      known += number;
    } else {
      EXPECT_EQ(number, known) << "a line is missing";
      ++known;
    }
  }
  EXPECT_EQ(known, lines);
  EXPECT_GT(dropped, lines / 2);
}

TEST(BackgroundLog, DropsAndCountsLinesThatNobodyReads) {
  constexpr int kLines = 3000;
  const Pipe pipe;
  pipe.fill();
  const BackgroundLog log(pipe.write_end, 10);
  for (int i = 0; i < kLines; ++i) spdlog::warn("{} {}", i, std::string(2000, '.'));
  expect_lines(pipe, kLines);
  spdlog::warn("again");
  EXPECT_EQ(pipe.read_until("again\n"), "warning: again\n");
}

TEST(BackgroundLog, DoesNotKeepAProcessFromItsEnd) {
  constexpr int kLines = 100;
  const auto before = spdlog::default_logger()->sinks();
  const Pipe pipe;
  pipe.fill();
  {
    const BackgroundLog log(pipe.write_end, 10);
    for (int i = 0; i < kLines; ++i) spdlog::warn("{} {}", i, std::string(2000, '.'));
  }
  spdlog::warn("{} to nobody", kLines);
  spdlog::default_logger()->sinks() = before;
  expect_lines(pipe, kLines + 1);
}

}  // namespace
}  // namespace hum
