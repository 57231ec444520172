#include "kernels/stft/stft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/cpu_features.h"
#include "kernels/stft/fft_plan.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Spectrum;
using graph::Value;
using graph::Values;
using ::testing::HasSubstr;

std::vector<float> window_of(int64_t n) {
  auto window = graph::hann_window(n);
  for (size_t i = 0; i < window.size(); ++i) window[i] += 0.01F * static_cast<float>(i % 3);
  return window;
}

struct Case {
  int64_t batch, samples, n, hop;
};
const Case kCases[] = {{2, 4410, 64, 16},     {3, 5000, 128, 32},   {1, 9000, 2048, 512},
                       {2, 6000, 588, 147},   {2, 6000, 1323, 441}, {1, 4500, 30, 7},
                       {4, 5000, 1000, 1001}, {4, 2100, 2100, 5},   {1, 5000, 14, 3}};

const KernelCalls kBoth = {"hum.stft", "hum.stft_adjoint"};

TEST(Stft, ValuesAndGradientAgreeWithPlainOps) {
  HUM_NEEDS(Isa::kAvx2);
  for (const Case& c : kCases) {
    const auto window = window_of(c.n);
    const Value x = parameter("x", {DType::kF32, {c.batch, c.samples}});
    const Spectrum s = kernels::stft(x, window, c.hop);
    const Value dr = parameter("dr", s.real.shape()), di = parameter("di", s.imag.shape());
    const Value dx = graph::pullback(Values{s.real, s.imag}, Values{dr, di}, Values{x})[0];
    const graph::Function function{"stft", {x, dr, di}, {s.real, s.imag, dx}, {}};
    SCOPED_TRACE(c.n);
    expect_kernels_agree(function, random_inputs(function), 2e-6, kBoth);
  }
}

TEST(Stft, OfOnePartAloneHasItsGradient) {
  HUM_NEEDS(Isa::kAvx2);
  const Value x = parameter("x", {DType::kF32, {2, 3000}});
  const Value loss = graph::sum_all(kernels::stft(x, window_of(240), 60).imag * 0.25);
  const graph::Function function{"imag", {x}, {graph::gradients(loss, Values{x})[0]}, {}};
  expect_kernels_agree(function, random_inputs(function), 1e-5, {"hum.stft_adjoint"});
}

TEST(OverlappedIrfft, ValuesAndGradientsAgreeWithPlainOps) {
  HUM_NEEDS(Isa::kAvx2);
  for (const Case& c : kCases) {
    const int64_t frames = (c.samples - c.n) / c.hop + 1;
    const auto window = window_of(c.n);
    const graph::Shape shape{DType::kF32, {c.batch, frames, c.n / 2 + 1}};
    const auto function = with_gradients(
        "overlapped_irfft", {parameter("real", shape), parameter("imag", shape)}, [&](auto in) {
          return overlapped_irfft({in[0], in[1]}, window, c.hop);
        });
    SCOPED_TRACE(c.n);
    expect_kernels_agree(function, random_inputs(function), 2e-6, kBoth);
  }
}

TEST(Stft, LeavesSizesWithLargePrimeFactorsToPlainOps) {
  EXPECT_TRUE(has_lane_fft(2 * 3 * 5 * 7 * 49));
  EXPECT_FALSE(has_lane_fft(11));
  const Value x = parameter("x", {DType::kF32, {2, 9000}});
  EXPECT_EQ(kernel_calls({"eleven", {x}, {kernels::stft(x, window_of(1100), 100).real}, {}}),
            KernelCalls());
}

TEST(Stft, RefusesWhatHasNoFrames) {
  const Value x = parameter("x", {DType::kF32, {2, 50}});
  try {
    kernels::stft(x, window_of(64), 16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("stft: f32[2,50] has no frames of 64 samples every 16"));
  }
}

}  // namespace
}  // namespace hum::kernels
