// The custom call of adamw, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (weights bf16, mean f32, square f32, gradient f32 or bf16, numbers f32[9], key u32[2])
// -> (weights, mean, square), over the first three. Settings: decays, streams.
extern const pjrt::KernelRow kAdamwRow;

// Where each of the step's numbers stands.
enum AdamwNumber {
  kMeanGain,    // clip (1 - beta1)
  kMeanLoss,    // 1 - beta1
  kSquareGain,  // clip^2 (1 - beta2)
  kSquareLoss,  // 1 - beta2
  kUnbias1,
  kUnbias2,
  kEpsilon,
  kDecay,
  kLearningRate,
  kAdamwNumberCount,
};

bool adamw_available(const graph::Node& node);

}  // namespace hum::kernels
