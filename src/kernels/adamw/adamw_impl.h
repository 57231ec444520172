// The order of the step's numbers, shared by the wrapper and the kernel.
#pragma once

namespace hum::kernels {

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

}  // namespace hum::kernels
