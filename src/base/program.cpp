#include "base/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t spawn(std::vector<std::string>& command, const std::filesystem::path& folder,
            std::vector<std::string>& variables, const std::string& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = -1;
  const int error = ::posix_spawn(&child, command[0].c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  fail(ExitCode::kUnavailable, fmt::format("cannot start {}: {}", command[0], std::strerror(error)),
       fmt::format("install {}", command[0]));
}

}  // namespace

ProgramEnd run_program(std::vector<std::string> command, const std::filesystem::path& folder,
                       const std::map<std::string, std::string>& environment,
                       std::chrono::milliseconds limit) {
  HUM_REQUIRE(!command.empty(), "run_program: no command");
  const ScratchFolder scratch;
  const std::string output = scratch / "output";
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const auto end = Clock::now() + limit;
  const pid_t child = spawn(command, folder, variables, output);
  ProgramEnd result;
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    ended = ::waitpid(child, &status, result.timed_out ? 0 : WNOHANG);
    if (ended == child) break;
    HUM_CHECK(ended == 0 || errno == EINTR, "waitpid: {}", std::strerror(errno));
    if (Clock::now() >= end) {
      ::kill(child, SIGKILL);
      result.timed_out = true;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = read_file(output);
  return result;
}

}  // namespace hum
