// For kernel tests and benches: runs programs with the kernels and as plain ops, and counts the
// custom calls that reached a kernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/fields.h"
#include "base/rng.h"
#include "graph/autodiff/gradients.h"
#include "graph/function.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/structure.h"
#include "kernels/cpu_features.h"
#include "kernels/table.h"
#include "pjrt/ffi.h"
#include "runtime/session.h"

// Skips a test whose kernels cannot run here: HUM_NEEDS(Isa::kAvx2), or
// HUM_NEEDS(Isa::kAvx512Bf16, matmul_isa()).
#define HUM_NEEDS(...) \
  if (const auto why = ::hum::kernels::why_no_kernel(__VA_ARGS__)) GTEST_SKIP() << *why

namespace hum::kernels {

// One session per process with kernels, and one without. Neither is ever closed, since the plugin's
// threads may outlive main.
inline runtime::Session& kernel_session() {
  static auto* session = new runtime::Session(
      {.kernels = table(), .use_kernel = available, .instruction_set = instruction_set()});
  return *session;
}
inline runtime::Session& plain_session() {
  static auto* session = new runtime::Session();
  return *session;
}

// Standard normal numbers that depend only on the name and the number of elements, times `scale`.
inline runtime::HostTensor random_tensor(const std::string& name, const graph::Shape& shape,
                                         double scale = 1) {
  Rng rng(11, name, static_cast<uint64_t>(shape.elements()));
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(scale * rng.normal());
  return runtime::HostTensor::from_floats(shape.dtype, shape.dims, values);
}

// A random input for every parameter of the function.
inline std::vector<runtime::HostTensor> random_inputs(const graph::Function& function) {
  std::vector<runtime::HostTensor> inputs;
  for (const graph::Value& p : function.parameters) {
    inputs.push_back(random_tensor(graph::parameter_name(p.node()), p.shape()));
  }
  return inputs;
}

// y = f(inputs...), and the gradients of all inputs for a random cotangent of y.
template <typename F>
graph::Function with_gradients(const std::string& name, graph::Values inputs, const F& f) {
  const graph::Value y = f(std::span<const graph::Value>(inputs));
  const graph::Value dy = graph::parameter("dy", y.shape());
  graph::Values results = graph::pullback(graph::Values{y}, graph::Values{dy}, inputs);
  results.push_back(y);
  inputs.push_back(dy);
  return {name, inputs, results, {}};
}

// Why a kernel that needs these instructions cannot run here; nullopt if it can.
inline std::optional<std::string> why_no_kernel(Isa needed, Isa here = chosen_isa()) {
  if (!env_flag("HUM_KERNELS", true)) return "HUM_KERNELS=0: plain ops only";
  if (here >= needed) return std::nullopt;
  return fmt::format("the kernel needs {}, this processor has {} (HUM_OPS_ISA: {})",
                     to_name(needed), to_name(here), env_string("HUM_OPS_ISA", "not set"));
}

// Custom-call targets, one entry per call.
using KernelCalls = std::multiset<std::string>;

// The custom calls of a function that use their kernels on this machine.
inline KernelCalls kernel_calls(const graph::Function& function) {
  KernelCalls calls;
  for (const graph::Node* node : graph::topological_order(function.results)) {
    if (available(*node)) calls.insert(graph::custom_call_target(*node));
  }
  return calls;
}

// Counts the calls that reach kernels during its lifetime; at most one exists at a time.
class KernelCounter {
 public:
  KernelCounter() {
    for (auto& count : counts()) count = 0;
    pjrt::ffi::observe_kernels(count);
  }
  ~KernelCounter() { pjrt::ffi::observe_kernels(nullptr); }
  KernelCounter(const KernelCounter&) = delete;
  KernelCounter& operator=(const KernelCounter&) = delete;

  KernelCalls calls() const {
    KernelCalls calls;
    for (size_t i = 0; i < rows().size(); ++i) {
      for (int n = counts()[i]; n > 0; --n) calls.insert(rows()[i].name);
    }
    return calls;
  }

 private:
  static const std::vector<pjrt::KernelRow>& rows() {
    static const auto kRows = table();
    return kRows;
  }
  static std::vector<std::atomic<int>>& counts() {
    static std::vector<std::atomic<int>> counts(rows().size());
    return counts;
  }
  static void count(XLA_FFI_Handler* kernel, std::chrono::steady_clock::time_point,
                    std::chrono::steady_clock::time_point) {
    const auto row = std::ranges::find(rows(), kernel, &pjrt::KernelRow::handler);
    if (row != rows().end()) ++counts()[static_cast<size_t>(row - rows().begin())];
  }
};

// Runs the function with kernels and returns its results; `expected` lists the kernels that must
// run.
inline std::vector<runtime::HostTensor> run_kernels(const graph::Function& function,
                                                    const std::vector<runtime::HostTensor>& inputs,
                                                    const KernelCalls& expected) {
  const KernelCounter counter;
  auto results = kernel_session().compile(function.name, function).run(inputs);
  EXPECT_EQ(counter.calls(), expected) << function.name;
  return results;
}

// Expects |ours - plain| <= tolerance * (largest |plain| of that result) for every element, and
// that exactly the kernels in `expected` ran (empty: plain ops only).
inline void expect_kernels_agree(const graph::Function& function,
                                 const std::vector<runtime::HostTensor>& inputs, double tolerance,
                                 const KernelCalls& expected) {
  const auto ours = run_kernels(function, inputs, expected);
  const auto plain = plain_session().compile(function.name, function).run(inputs);
  for (size_t r = 0; r < ours.size(); ++r) {
    const std::vector<float> got = ours[r].to_floats(), wanted = plain[r].to_floats();
    double scale = 0, worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      scale = std::max(scale, std::abs(static_cast<double>(wanted[i])));
      const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i]));
      if (!(error <= worst)) {
        worst = error;
        where = i;
      }
    }
    EXPECT_LE(worst, tolerance * scale)
        << function.name << ": result " << r << " " << ours[r].shape().to_string() << " at "
        << where << ": " << got[where] << " instead of " << wanted[where];
  }
}

// The same for program(dtype) in f32 and bf16.
template <typename F>
void expect_row_kernels_agree(const F& program, double f32_tolerance, double bf16_tolerance,
                              const KernelCalls& expected) {
  for (const auto dtype : {graph::DType::kF32, graph::DType::kBF16}) {
    const graph::Function function = program(dtype);
    expect_kernels_agree(function, random_inputs(function),
                         dtype == graph::DType::kF32 ? f32_tolerance : bf16_tolerance, expected);
  }
}

}  // namespace hum::kernels
