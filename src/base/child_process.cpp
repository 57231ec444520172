#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace hum {
namespace {

using Clock = std::chrono::steady_clock;

// Without room for another descriptor.
[[noreturn]] void fail_no_descriptor(int error) {
  fail(ExitCode::kTemporary, fmt::format("cannot start a process: {}", std::strerror(error)),
       "try again later");
}

// Copies of the files, at numbers above those that the child's files get: a file that is put at its
// number then never overwrites one that is still to be put.
std::vector<OpenFile> out_of_the_way(std::span<const int> files) {
  std::vector<OpenFile> copies;
  for (const int file : files) {
    copies.emplace_back(::fcntl(file, F_DUPFD_CLOEXEC, static_cast<int>(files.size())));
    if (!copies.back().is_open()) fail_no_descriptor(errno);
  }
  return copies;
}

class SpawnActions {
 public:
  SpawnActions(std::span<const OpenFile> files, const std::filesystem::path& folder) {
    posix_spawn_file_actions_init(&actions_);
    int number = 0;
    for (const OpenFile& file : files) {
      posix_spawn_file_actions_adddup2(&actions_, file.descriptor(), number++);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, number);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t spawn(ChildCommand& command, std::span<const int> files) {
  HUM_REQUIRE(!command.words.empty(), "ChildProcess: no program");
  const std::vector<OpenFile> copies = out_of_the_way(files);
  const SpawnActions actions(copies, command.folder);
  const SpawnAttributes attributes;
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  const std::string& program = command.words.front();
  pid_t child = -1;
  const int error = ::posix_spawn(&child, program.c_str(), actions.get(), attributes.get(),
                                  pointers(command.words).data(), pointers(variables).data());
  if (error == 0) return child;
  const bool has_no_room = error == EAGAIN || error == ENOMEM;
  fail(has_no_room ? ExitCode::kTemporary : ExitCode::kUnavailable,
       fmt::format("cannot start {}: {}", program, std::strerror(error)),
       has_no_room ? "try again later" : fmt::format("check the installation of {}", program));
}

// Whether the child ended before `end`.
bool ends_before(const OpenFile& child, Clock::time_point end) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wait{child.descriptor(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    if (ready == 1) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left <= 0) return false;
  }
}

// The child's parent must collect it, whatever happened before.
int collect(pid_t child, rusage& used) {
  int status = 0;
  while (::wait4(child, &status, 0, &used) < 0) {
    HUM_CHECK(errno == EINTR, "another part of the process collected a child: {}",
              std::strerror(errno));
  }
  return status;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ChildProcess::ChildProcess(ChildCommand command, std::span<const int> files)
    : process_(spawn(command, files)),
      // Not pidfd_open: glibc 2.36 declares it without extern "C".
      handle_(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0))) {
  if (handle_.is_open()) return;
  const int error = errno;
  end(std::chrono::milliseconds(0));  // the destructor of an unfinished object is not called
  fail_no_descriptor(error);
}

ChildProcess::~ChildProcess() {
  if (process_ != 0) end(std::chrono::milliseconds(0));
}

double ChildProcess::processor_s() const {
  clockid_t clock{};
  timespec time{};
  const bool is_known =
      ::clock_getcpuclockid(process_, &clock) == 0 && ::clock_gettime(clock, &time) == 0;
  return is_known ? static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec) : 0;
}

bool ChildProcess::has_ended() const { return ends_before(handle_, Clock::now()); }

ProcessEnd ChildProcess::end(std::chrono::milliseconds limit) {
  ProcessEnd ending;
  ending.timed_out = !handle_.is_open() || !ends_before(handle_, Clock::now() + limit);
  if (ending.timed_out) ::kill(-process_, SIGKILL);  // its group: what it started, too
  rusage used{};
  const int status = collect(std::exchange(process_, 0), used);
  ending.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ending.processor_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return ending;
}

}  // namespace hum
