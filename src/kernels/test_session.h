// For kernel tests and benches: programs run twice, with the kernels and as plain ops.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/autodiff/gradients.h"
#include "graph/function.h"
#include "graph/ops/structure.h"
#include "graph/stablehlo/print.h"
#include "kernels/cpu_features.h"
#include "kernels/table.h"
#include "runtime/session.h"

namespace hum::kernels {

// One session a process with the kernels in it, and one without; neither is ever closed, since the
// plugin's threads may outlive main.
inline runtime::Session& kernel_session() {
  static auto* session = new runtime::Session(
      {.kernels = table(), .use_kernel = available, .instruction_set = instruction_set()});
  return *session;
}
inline runtime::Session& plain_session() {
  static auto* session = new runtime::Session();
  return *session;
}

// Standard normal numbers that depend on name and shape alone.
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

inline int count_custom_calls(const graph::Function& function) {
  const std::string text = graph::print_module(function, {.use_kernel = available});
  int count = 0;
  for (size_t at = text.find("custom_call"); at != text.npos;
       at = text.find("custom_call", at + 1)) {
    ++count;
  }
  return count;
}

// |ours - plain| <= tolerance * (largest |plain| of that result), for every element.
inline void expect_kernels_agree(const graph::Function& function,
                                 const std::vector<runtime::HostTensor>& inputs, double tolerance) {
  const auto ours = kernel_session().compile(function.name, function).run(inputs);
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

// The same of program(dtype) in f32 and bf16: a kernel and its gradient's kernel run where the
// machine has vectors for them.
template <typename F>
void expect_row_kernels_agree(const F& program, double f32_tolerance, double bf16_tolerance) {
  for (const auto dtype : {graph::DType::kF32, graph::DType::kBF16}) {
    const graph::Function function = program(dtype);
    EXPECT_EQ(count_custom_calls(function), chosen_isa() >= Isa::kAvx2 ? 2 : 0);
    expect_kernels_agree(function, random_inputs(function),
                         dtype == graph::DType::kF32 ? f32_tolerance : bf16_tolerance);
  }
}

}  // namespace hum::kernels
