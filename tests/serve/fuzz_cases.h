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

// In the order in which they are to be sent; at least 500, with different names.
std::vector<FuzzCase> fuzz_cases(const FuzzIds& ids, double most_seconds);

struct FuzzAnswer {
  std::string fault;  // what is wrong with it; empty: nothing
  int status = 0;
  std::string made;  // path of the job or upload that it made: for a DELETE
};

// Sends the request to this port of the loopback and judges the answer. It must come within ten
// seconds, or half a minute if the request carries a sound.
FuzzAnswer send_fuzz_case(const FuzzCase& one, int port);

}  // namespace hum::serve
