#include "base/testing/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "base/error.h"

namespace hum::testing {

namespace fs = std::filesystem;

namespace {

void write_to(const fs::path& file, int stream) {
  ::dup2(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), stream);
}

// In the child: never returns.
[[noreturn]] void become(std::vector<std::string>& command, const ProcessOptions& options) {
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.ends_with_thread) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!options.out.empty()) write_to(options.out, STDOUT_FILENO);
  if (!options.err.empty()) write_to(options.err, STDERR_FILENO);
  if (options.max_file_bytes >= 0) {
    const auto bytes = static_cast<rlim_t>(options.max_file_bytes);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(127);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// A row of /proc/PID/status, if the process is there: `key` ends with a colon.
std::optional<std::string> status_of(pid_t process, const std::string& key) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process))) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

Process::Process(std::vector<std::string> command, const ProcessOptions& options) {
  int pipe[2] = {-1, -1};
  const bool has_pipe = options.out.empty();
  HUM_REQUIRE(!has_pipe || ::pipe2(pipe, O_CLOEXEC) == 0, "no pipe");
  pid_ = ::fork();
  HUM_REQUIRE(pid_ >= 0, "cannot fork");
  if (pid_ == 0) {
    if (has_pipe) ::dup2(pipe[1], STDOUT_FILENO);
    become(command, options);
  }
  if (has_pipe) ::close(pipe[1]);
  out_ = pipe[0];
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  if (out_ >= 0) ::close(out_);
}

std::string Process::first_line() {
  std::string line;
  for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

std::string Process::rest() {
  std::string bytes, part(65536, '\0');
  for (ssize_t count; (count = ::read(out_, part.data(), part.size())) > 0;) {
    bytes.append(part, 0, static_cast<size_t>(count));
  }
  return bytes;
}

void Process::signal(int number) const { ::kill(pid_, number); }

int Process::wait() {
  int status = 0;
  rusage usage{};
  ::wait4(pid_, &status, 0, &usage);
  pid_ = 0;
  peak_bytes_ = static_cast<int64_t>(usage.ru_maxrss) * 1024;
  processor_s_ = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_running(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t state = text.rfind(')') + 2;  // after the name, which may hold anything
  return state < text.size() && text[state] != 'Z' && text[state] != 'X';
}

bool catches(pid_t process, int signal) {
  const auto caught = status_of(process, "SigCgt:");
  return caught && (std::stoull(*caught, nullptr, 16) >> (signal - 1) & 1) != 0;
}

int64_t resident_bytes(pid_t process) {
  const auto resident = status_of(process, "VmRSS:");
  if (!resident) fail(ExitCode::kFailure, fmt::format("process {} has ended", process));
  return std::stoll(*resident) * 1024;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace hum::testing
