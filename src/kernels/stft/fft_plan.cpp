#include "kernels/stft/fft_plan.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>

namespace hum::kernels {
namespace {

constexpr int64_t kRadices[] = {4, 2, 3, 5, 7};

void append_root(std::vector<float>& to, int64_t index, int64_t n) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(index % n) / static_cast<double>(n);
  to.push_back(static_cast<float>(std::cos(angle)));
  to.push_back(static_cast<float>(std::sin(angle)));
}

std::unique_ptr<FftPlan> make_plan(int64_t n) {
  auto plan = std::make_unique<FftPlan>();
  plan->n = n;
  int64_t left = n, stride = 1;
  for (const int64_t radix : kRadices) {
    for (; left % radix == 0; left /= radix, stride *= radix) {
      FftStage stage{radix, left / radix, stride, {}, {}};
      for (int64_t p = 0; p < stage.m; ++p) {
        for (int64_t k = 1; k < radix; ++k) append_root(stage.twiddles, p * k, left);
      }
      for (int64_t j = 0; j < radix; ++j) append_root(stage.roots, j, radix);
      plan->stages.push_back(std::move(stage));
    }
  }
  return plan;
}

}  // namespace

bool has_lane_fft(int64_t n) {
  if (n < 1) return false;
  for (const int64_t radix : kRadices) {
    while (n % radix == 0) n /= radix;
  }
  return n == 1;
}

const FftPlan& lane_fft_plan(int64_t n) {
  // The process's plans: some kB each, for a handful of window lengths. Never destroyed, since the
  // plugin's threads may outlive main.
  static std::mutex mutex;
  static auto& plans = *new std::map<int64_t, std::unique_ptr<FftPlan>>;
  const std::lock_guard lock(mutex);
  auto& plan = plans[n];
  if (!plan) plan = make_plan(n);
  return *plan;
}

}  // namespace hum::kernels
