// State shared by copies of an Executable: the loaded program and everything needed to run or
// rebuild it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/finite_checks.h"
#include "pjrt/loaded_executable.h"
#include "runtime/executable.h"

namespace hum::runtime {

struct Program {
  std::string name;
  std::vector<Executable::Parameter> parameters;
  std::vector<graph::Shape> results;
  std::vector<int> devices;
  // Set under HUM_CHECK_NANS: an extra result flags which values were finite.
  graph::FiniteChecks checks;
  std::shared_ptr<const pjrt::Client> client;

  using Loaded = std::shared_ptr<const pjrt::LoadedExecutable>;
  Loaded loaded;
  // Called after the first run of a program from disk that is not known to run here.
  struct Probation {
    std::function<Loaded()> compile_anew;
    std::function<void(Loaded)> passed;
  };
  std::optional<Probation> probation;
  // Guards the two members below; held during the first run of a program on probation.
  std::mutex mutex;
};

}  // namespace hum::runtime
