#include "plan/counted_work.h"

namespace hum::plan {

StepTime step_time(const CountedWork& work, const Device& device, const Efficiency& efficiency) {
  const double flops = device.peak_tflops.value * 1e12 * efficiency.gemm;
  const double memory = device.memory_gb_per_s.value * 1e9 * efficiency.memory;
  return {.compute = work.product_flops / flops + work.bytes / memory};
}

}  // namespace hum::plan
