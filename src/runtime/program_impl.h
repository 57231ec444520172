// What an Executable shares: the loaded program and all that is needed to run or rebuild it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
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
  // Set under HUM_CHECK_NANS: one more result says which values were finite.
  graph::FiniteChecks checks;
  std::shared_ptr<const pjrt::Client> client;

  std::shared_ptr<const pjrt::LoadedExecutable> loaded;
  // Set while a program that came from disk has not yet run: compiles it anew.
  std::function<std::shared_ptr<const pjrt::LoadedExecutable>()> recompile;
  // Called once, after the first run that went well.
  std::function<void()> after_first_run;
  // Guards these three; held through a probe.
  std::mutex mutex;
};

}  // namespace hum::runtime
