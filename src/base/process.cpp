#include "base/process.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/log.h"

namespace hum {

void end_process(int exit_code) {
  spdlog::default_logger()->flush();
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::exit(exit_code);  // what sanitizers found, they say in handlers of exit
#else
  std::_Exit(exit_code);
#endif
}

}  // namespace hum
