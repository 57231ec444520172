#include "bench/step_program.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/error.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

using runtime::HostTensor;

HostTensor slice_at(const HostTensor& batches, int64_t step) {
  const graph::Shape& all = batches.shape();
  HUM_REQUIRE(step < all.size(0), "the problem has {} batches", all.size(0));
  HostTensor slice(graph::Shape{all.dtype, {all.dims.begin() + 1, all.dims.end()}});
  const size_t size_bytes = slice.bytes().size();
  const auto from = batches.bytes().subspan(static_cast<size_t>(step) * size_bytes, size_bytes);
  std::copy(from.begin(), from.end(), slice.bytes().begin());
  return slice;
}

}  // namespace

graph::DType compute_dtype(std::string_view name) {
  if (name == "bf16") return graph::DType::kBF16;
  if (name != "f32") fail(ExitCode::kUsage, fmt::format("'{}' is neither f32 nor bf16", name));
  return graph::DType::kF32;
}

StepProblem read_step_problem(const std::string& path, std::string_view batches,
                              std::string_view extra) {
  StepProblem problem;
  for (auto& [name, tensor] : runtime::read_tensors(path)) {
    if (name == batches) {
      problem.batches = std::move(tensor);
    } else if (!name.starts_with(extra)) {
      problem.weights.push_back({name, std::move(tensor)});
    }
  }
  return problem;
}

TimedSteps timed_steps(train::Trainer& trainer, const HostTensor& batches, int64_t steps) {
  TimedSteps result;
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    const HostTensor batch = slice_at(batches, step);
    result.last_scalars = trainer.run(step, std::span(&batch, 1)).scalars;
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    result.losses.push_back(result.last_scalars[0]);
    result.milliseconds.push_back(spent.count());
  }
  return result;
}

}  // namespace hum::bench
