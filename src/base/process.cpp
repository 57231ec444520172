#include "base/process.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/log.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace hum {

bool flush_output() {
  if (std::cout.flush()) return true;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;  // reader gone
}

void end_process(int exit_code) {
  spdlog::default_logger()->flush();
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
  __lsan_do_leak_check();  // ends the process itself if something leaked
#endif
#ifdef __SANITIZE_THREAD__
  std::exit(exit_code);  // an exit handler sets the exit code if there are findings
#else
  std::_Exit(exit_code);
#endif
}

}  // namespace hum
