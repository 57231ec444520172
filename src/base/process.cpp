#include "base/process.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace hum {
namespace {

// What to do if stdout cannot be written. A closed stdout is held as a file that is only read
// (cli/main.cpp).
const char* hint_of_output(int error) {
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
    return "free some disk space and run the command again";
  }
  return error == EBADF ? "stdout is closed (>&-): send it to a file or a program"
                        : "check where stdout goes";
}

// Bytes that were read; 0 at the end. Waits with poll, which a signal interrupts.
size_t read_some(char* to, size_t count) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, -1) < 0 && errno == EINTR) {
    fail(ExitCode::kFailure, "stopped while reading stdin", "run the command again");
  }
  const ssize_t read = ::read(STDIN_FILENO, to, count);
  if (read < 0) {
    fail(ExitCode::kNoInput, fmt::format("stdin: cannot read: {}", std::strerror(errno)),
         "pipe a file into the command: cat hum.wav | hum notes -");
  }
  return static_cast<size_t>(read);
}

}  // namespace

void copy_stdin(const std::filesystem::path& file, int64_t most_bytes) {
  if (::isatty(STDIN_FILENO) == 1) {
    fail(ExitCode::kUsage, "stdin is a terminal, not a recording",
         "pipe a file into the command: cat hum.wav | hum notes -");
  }
  AtomicFile copy(file);
  std::string block(size_t{1} << 20, '\0');
  int64_t bytes = 0;
  while (const size_t read = read_some(block.data(), block.size())) {
    bytes += static_cast<int64_t>(read);
    if (bytes > most_bytes) {
      fail(ExitCode::kBadData, fmt::format("stdin: more than {} MiB", most_bytes >> 20),
           "write it to a file, and give the name of the file");
    }
    copy.write(std::string_view(block).substr(0, read));
  }
  copy.commit();
}

void write_bytes(std::FILE* file, std::string_view bytes, std::string_view what) {
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0) {
    return;
  }
  const int error = errno;
  if (error == EPIPE) {
    fail(ExitCode::kCannotCreate, fmt::format("cannot write {}: its reader has gone", what),
         "pipe it into a program that reads to the end: ... | aplay");
  }
  fail(ExitCode::kCannotCreate, fmt::format("cannot write {}: {}", what, std::strerror(error)),
       hint_of_output(error));
}

void require_no_terminal(std::FILE* file, std::string_view what, const char* hint) {
  if (::isatty(::fileno(file)) != 1) return;
  fail(ExitCode::kUsage, fmt::format("{} would be written to a terminal", what), hint);
}

void flush_output() {
  errno = 0;
  if (std::cout.flush()) return;
  int error = errno;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  const bool is_reader_gone = ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
  if (is_reader_gone) return;
  // The output failed before, and the reason is lost: one more byte fails for the same one.
  if (error == 0 && ::write(STDOUT_FILENO, "\n", 1) < 0) error = errno;
  if (error == 0) error = EIO;
  fail(ExitCode::kCannotCreate, fmt::format("cannot write to stdout: {}", std::strerror(error)),
       hint_of_output(error));
}

void wait_with_little_memory() {
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // Only programs link jemalloc.
  using Control = int (*)(const char*, void*, size_t*, void*, size_t);
  const auto control = reinterpret_cast<Control>(::dlsym(RTLD_DEFAULT, "mallctl"));
  if (control == nullptr) return;
  ssize_t decay_ms = 1000;
  // 4096: all arenas there are; the other names are for those to come.
  for (const char* name : {"arenas.dirty_decay_ms", "arenas.muzzy_decay_ms",
                           "arena.4096.dirty_decay_ms", "arena.4096.muzzy_decay_ms"}) {
    control(name, nullptr, nullptr, &decay_ms, sizeof decay_ms);
  }
  bool background = true;  // so that memory returns although nobody allocates
  control("background_thread", nullptr, nullptr, &background, sizeof background);
}

void compute_with_memory() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }

void end_process(int exit_code) {
  spdlog::default_logger()->flush();
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
  __lsan_do_leak_check();  // ends the process itself if something leaked
#endif
#ifdef __SANITIZE_THREAD__
  ::_exit(exit_code);  // unlike _Exit intercepted: findings set the exit code
#else
  std::_Exit(exit_code);
#endif
}

}  // namespace hum
