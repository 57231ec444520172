// Runs programs as their users do, and measures their time and memory.
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
  double processor_s = 0;  // of all its threads
};

// Limits this process and those it starts to this many cores (the first ones available). Call it
// before there are threads.
void use_cores(int cores);

// Forwards the program's stderr. command: its path, then arguments. Throws: kFailure if it exits
// with anything but 0.
ProgramRun run_program(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment = {});
// The program `hum`.
ProgramRun run_hum(const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment = {});

}  // namespace hum::bench
