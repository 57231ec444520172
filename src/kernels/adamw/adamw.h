// One AdamW step for a tensor with bf16 weights, in one pass over memory: gradient, weight and both
// moments are read once, and written in place if the program owns them.
#pragma once

#include <cstdint>
#include <source_location>
#include <vector>

#include "graph/value.h"

namespace hum::kernels {

// Values of one step, shared by all tensors: f32 scalars.
struct AdamwStep {
  graph::Value clip;  // factor on the gradient
  graph::Value learning_rate;
  graph::Value unbias1, unbias2;  // 1 / (1 - beta^step)
};

struct AdamwSettings {
  double beta1, beta2, epsilon, weight_decay;
};

// f32[9]: the kernel's factors, computed once per step.
graph::Value adamw_numbers(const AdamwStep& step, const AdamwSettings& settings);

struct AdamwTensor {
  graph::Value weights;       // bf16
  graph::Value mean, square;  // f32
  graph::Value gradient;      // f32
  bool decays = false;
  // One stream per part: the row-major elements are split into equal parts, each rounded with draws
  // from its own stream.
  std::vector<uint32_t> streams;
};

struct AdamwResult {
  graph::Value weights, mean, square;
};

// Updates the weights in f32 and rounds them to bf16 stochastically (graph::round_stochastically).
// Kernel and plain ops are bit-equal where the processor has fused multiply-add.
// Shapes: all the same. Throws: other shapes or types.
// Source: Loshchilov & Hutter 2019; Gupta et al. 2015 for the rounding.
AdamwResult adamw(const AdamwTensor& tensor, const graph::Value& numbers, const graph::Value& key,
                  std::source_location where = std::source_location::current());

// The custom call, for kernels/table.cpp.
struct Kernel;
// (weights bf16, mean f32, square f32, gradient f32 or bf16, numbers f32[9], key u32[2])
// -> (weights, mean, square), in place of the first three. Settings: decays, streams.
extern const Kernel kAdamwKernel;

}  // namespace hum::kernels
