// Wrong requests to a service, from tables: endpoints x what may be wrong with them. Each must get
// a 4xx that says why, or a valid result.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace hum::serve {

// What a case expects, besides a certain status.
inline constexpr int kValidOrRefused = 0, kRefused4xx = 4;

struct FuzzCase {
  std::string name;     // "GET /health: two Hosts"
  std::string request;  // all bytes
  int status = kValidOrRefused;
  bool is_cut = false;  // the client sends no more, as if it were gone
};

// Ids that exist, for the parts of a request that are right.
struct FuzzIds {
  std::string job;  // has ended, with notes
  std::string upload;
};

// At least 500, with different names.
std::vector<FuzzCase> fuzz_cases(const FuzzIds& ids, double most_seconds);

// Sends them to this port of the loopback, several at a time, judges the answers, and removes what
// they made. Returns the faults: "NAME: what is wrong".
std::vector<std::string> send_fuzz_cases(const std::vector<FuzzCase>& cases, int port);

}  // namespace hum::serve
