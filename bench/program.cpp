#include "bench/program.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "bench/locations.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

// Runs in the child process; never returns.
[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment,
                         const std::string& out) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

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
  const pid_t child = fork();
  HUM_REQUIRE(child >= 0, "cannot fork");
  if (child == 0) become(command, environment, folder / "out");
  int status = 0;
  rusage usage{};
  HUM_REQUIRE(wait4(child, &status, 0, &usage) == child, "cannot wait for {}", command[0]);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(ExitCode::kFailure,
         fmt::format("`{}` ended with {}", fmt::join(command, " "),
                     WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                       : fmt::format("signal {}", WTERMSIG(status))));
  }
  return {read_file(folder / "out"), seconds, static_cast<int64_t>(usage.ru_maxrss) * 1024};
}

ProgramRun run_hum(const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment) {
  std::vector<std::string> command = {kHumProgram};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, environment);
}

}  // namespace hum::bench
