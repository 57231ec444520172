// Runs programs as their users do, and measures what that takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hum::bench {

struct ProgramRun {
  std::string out;
  double seconds = 0;      // from start to exit
  int64_t peak_bytes = 0;  // largest resident size
};

// From now on this process and those that it starts use so many cores at most (the first ones that
// it may use). Call it before there are threads.
void use_cores(int cores);

// What the program writes to stderr is passed on. command: its path, then arguments. Throws:
// kFailure when it exits with anything but 0.
ProgramRun run_program(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment = {});
// The program `hum`.
ProgramRun run_hum(const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment = {});

// A new folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hum::bench
