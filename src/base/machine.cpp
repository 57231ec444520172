#include "base/machine.h"

#include <fmt/format.h>

#include <fstream>

#include "base/threads.h"

namespace hum {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name"))
      return fmt::format("{}, {} threads", line.substr(line.find(": ") + 2), compute_threads());
  }
  return fmt::format("{} threads", compute_threads());
}

}  // namespace hum
