// The service that the bars measure: the hum of this build, with its released weights.
#pragma once

#include "bench/locations.h"
#include "serve/client/remote_job.h"
#include "tests/serve/running_service.h"

namespace hum::bench {

using serve::has_ended;

class Service : public serve::RunningService {
 public:
  explicit Service(int workers) : RunningService({.program = kHumProgram, .workers = workers}) {}
};

}  // namespace hum::bench
