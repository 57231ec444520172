#include "bench/program.h"

#include <sched.h>

#include <chrono>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"
#include "bench/locations.h"

namespace hum::bench {

void use_cores(int cores) {
  cpu_set_t all, few;
  HUM_REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0,
              "cannot read this process's CPU affinity");
  CPU_ZERO(&few);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&few) < cores; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &few);
  }
  HUM_REQUIRE(sched_setaffinity(0, sizeof few, &few) == 0, "cannot limit this process to {} cores",
              cores);
}

ProgramRun run_program(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment) {
  const ScratchFolder folder;
  const auto start = std::chrono::steady_clock::now();
  testing::Process process(command, {.environment = environment, .out = folder / "out"});
  const int code = process.wait();
  const double seconds = seconds_since(start);
  if (code != 0) {
    fail(ExitCode::kFailure,
         fmt::format("`{}` ended with exit code {}", fmt::join(command, " "), code));
  }
  return {read_file(folder / "out"), seconds, process.peak_bytes(), process.processor_s()};
}

ProgramRun run_hum(const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment) {
  std::vector<std::string> command = {kHumProgram};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, environment);
}

}  // namespace hum::bench
