// Runs the program `hum` in a new folder and inspects the files it leaves.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/scratch_folder.h"

namespace hum::e2e {

struct Outcome {
  int code = -1;  // exit code, or 128 + signal
  std::string out, err;
};

struct RunOptions {
  std::map<std::string, std::string> environment;
  // Largest file that may be written (RLIMIT_FSIZE): simulates a full disk.
  long max_file_bytes = -1;
  // Sends Ctrl-C after this long, but not before the program handles it.
  int interrupt_after_ms = -1;
  // Kills it as soon as this holds.
  std::function<bool()> kill_when = {};
  // Folder to run in; empty: the test's.
  std::filesystem::path folder;
};

Outcome run_hum(const std::vector<std::string>& arguments, const RunOptions& options = {});

// Runs a line of a shell in which `hum` is the program. The exit code is that of its last command.
Outcome run_shell(const std::string& line, const RunOptions& options = {});

// One line of error, perhaps lines of what hum was doing, one line of hint, nothing else.
void expect_error(const Outcome& run, int code, const std::string& message,
                  const std::string& hint = "");

// A line for run_shell and what it must answer. An error (code not 0): its exit code, a part of its
// message and a part of its hint. Success (code 0): two parts of what is printed on stdout.
struct Case {
  const char* line;
  int code;
  const char* message;
  const char* hint;
};

std::filesystem::path example_recording();

// A test with an empty folder.
class Program : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Names of all files in the folder, sorted.
  std::vector<std::string> files() const;
  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;
  // Six synthetic, clearly audible notes: returns the path.
  std::string write_hum(const std::string& name, double seconds = 4) const;
  // Runs every row in the folder; none may leave a file there. `setup` comes before its line.
  void expect_cases(std::span<const Case> cases, const std::string& setup = "") const;
  // A wav of these samples.
  std::string write_sound(const std::string& name, const std::vector<float>& mono, int rate_hz,
                          int channels = 1) const;

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

}  // namespace hum::e2e
