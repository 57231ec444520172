// How lane_fft transforms n points: its passes and their factors.
#pragma once

#include <cstdint>
#include <vector>

namespace hum::kernels {

// One pass over the data: m butterflies of `radix` points for each of `stride` positions.
struct FftStage {
  int64_t radix = 0, m = 0, stride = 0;
  // w^(p k) for k = 1..radix-1, p = 0..m-1, w = exp(-2 pi i / (radix m)): {cos, sin} pairs.
  std::vector<float> twiddles;
  // exp(-2 pi i j / radix), j = 0..radix-1.
  std::vector<float> roots;
};

struct FftPlan {
  int64_t n = 0;
  std::vector<FftStage> stages;
};

// Whether lane_fft can transform n points.
bool has_lane_fft(int64_t n);
// The plan for n points, built on first use. Thread-safe.
const FftPlan& lane_fft_plan(int64_t n);

}  // namespace hum::kernels
