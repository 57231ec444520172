#include "serve/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

namespace hum::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("exited with {}", WEXITSTATUS(status));
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, pid_t parent) {
  ::setpgid(0, 0);
  // The parent's thread that forked lives as long as the workers do, so this means the parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::sigaction(signal, &usual, nullptr);
  compute_with_memory();
  // Sockets of the server would stay open here.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

}  // namespace

struct Supervisor::Child {
  pid_t pid = 0;  // 0: does not run
  std::chrono::milliseconds backoff{0};
  Clock::time_point started, due;
};

struct Supervisor::Shared {
  std::atomic<bool> is_draining = false;
  std::atomic<int> running = 0;
  std::atomic<bool> must_kill = false, has_killed = false;
};

Supervisor::Supervisor(SupervisorOptions options)
    : options_(std::move(options)), shared_(std::make_unique<Shared>()) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Supervisor::~Supervisor() {
  shared_->is_draining = true;
  shared_->must_kill = true;
  thread_.request_stop();
}

void Supervisor::begin_drain() { shared_->is_draining = true; }

bool Supervisor::finish_drain(std::chrono::milliseconds at_most) {
  begin_drain();
  const auto deadline = Clock::now() + at_most;
  while (shared_->running > 0 && Clock::now() < deadline) std::this_thread::sleep_for(kPoll);
  shared_->must_kill = true;
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return !shared_->has_killed;
}

void Supervisor::start(Child& child) {
  std::vector<char*> arguments;
  for (std::string& word : options_.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), parent);
  if (pid < 0) {
    spdlog::error("a worker cannot be started: {}", std::strerror(errno));
    child.due = Clock::now() + options_.longest_backoff;
    return;
  }
  child.pid = pid;
  child.started = Clock::now();
  ++shared_->running;
}

bool Supervisor::poll(Child& child) {
  int status = 0;
  if (child.pid == 0) return false;
  if (::waitpid(child.pid, &status, WNOHANG) != child.pid) return true;
  const auto lived = Clock::now() - child.started;
  if (lived >= options_.well_after) child.backoff = {};
  child.backoff = std::clamp(2 * child.backoff, options_.first_backoff, options_.longest_backoff);
  child.due = Clock::now() + child.backoff;
  if (!shared_->is_draining) {
    spdlog::warn("worker process {} {}; the next one starts in {} ms", child.pid,
                 how_it_ended(status), child.backoff.count());
  }
  child.pid = 0;
  --shared_->running;
  return false;
}

void Supervisor::run(const std::stop_token& stop) {
  std::vector<Child> children(static_cast<size_t>(options_.workers));
  bool is_told = false;
  while (true) {
    bool runs = false;
    for (Child& child : children) {
      const bool is_alive = poll(child);
      if (!is_alive && !shared_->is_draining && Clock::now() >= child.due) start(child);
      runs = runs || child.pid != 0;
    }
    if (shared_->is_draining && !is_told) {
      for (const Child& child : children) {
        if (child.pid != 0) ::kill(child.pid, SIGTERM);
      }
      is_told = true;
    }
    if (shared_->must_kill) {
      for (const Child& child : children) {
        if (child.pid == 0) continue;
        ::kill(child.pid, SIGKILL);
        shared_->has_killed = true;
      }
    }
    if (!runs && stop.stop_requested()) return;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace hum::serve
