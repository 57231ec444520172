// A compiled graph function, ready to run on host or device tensors.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/shape.h"
#include "pjrt/executable.h"
#include "runtime/host_tensor.h"
#include "runtime/tensor.h"

namespace hum::runtime {

struct Program;

// Cheap to copy; keeps its session's client alive. Thread-safe.
class Executable {
 public:
  explicit Executable(std::shared_ptr<Program> program) : program_(std::move(program)) {}

  struct Parameter {
    std::string name;
    graph::Shape shape;
    bool donated = false;
  };
  const std::string& name() const;
  const std::vector<Parameter>& parameters() const;
  const std::vector<graph::Shape>& results() const;
  int replicas() const;

  // Runs one replica and waits for the results. Donated arguments are deleted: their memory holds
  // results. Throws if an argument does not match, naming the parameter; rethrows a kernel's error.
  std::vector<Tensor> run(std::span<const Tensor> arguments) const;
  std::vector<HostTensor> run(std::span<const HostTensor> arguments) const;

  // arguments[replica][parameter] -> results[replica][result].
  std::vector<std::vector<Tensor>> run_replicas(
      std::span<const std::vector<Tensor>> arguments) const;
  std::vector<std::vector<HostTensor>> run_replicas(
      std::span<const std::vector<HostTensor>> arguments) const;

  // Memory needed per device, as reported by the compiler; absent if it reports none.
  std::optional<pjrt::Executable::MemoryStats> memory_stats() const;

 private:
  std::shared_ptr<Program> program_;
};

}  // namespace hum::runtime
