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
#ifdef __SANITIZE_ADDRESS__
  std::exit(exit_code);  // the search for leaks is a handler of exit
#else
  std::_Exit(exit_code);
#endif
}

}  // namespace hum
