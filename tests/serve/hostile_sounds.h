// Sound files that a service must survive: damaged, lying, or far too large once decoded.
#pragma once

#include <string>
#include <vector>

namespace hum::serve {

struct HostileSound {
  std::string name, bytes;
  bool is_refused = true;  // as a recording
};

// `most_seconds`: of a recording that the service takes; some are longer.
std::vector<HostileSound> hostile_sounds(double most_seconds);

// A wav of a clear tone: one that is fine.
std::string good_sound();

}  // namespace hum::serve
