#include "kernels/mel_spectrum/mel_spectrum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using ::testing::HasSubstr;

// Triangles of equal width, wide enough that every bin lies in one or two of them.
MelScale scale_of(int64_t n, int64_t hop, int64_t bands) {
  MelScale scale{.window = graph::hann_window(n), .hop = hop, .bands = bands, .epsilon = 1e-3};
  const int64_t bins = n / 2 + 1;
  scale.weights.resize(static_cast<size_t>(bins * bands));
  for (int64_t bin = 0; bin < bins; ++bin) {
    const double at = static_cast<double>(bin * (bands + 1)) / static_cast<double>(bins) - 1;
    for (int64_t band = 0; band < bands; ++band) {
      const double height = 1 - std::abs(at - static_cast<double>(band));
      scale.weights[static_cast<size_t>(bin * bands + band)] =
          static_cast<float>(std::max(height, 0.0));
    }
  }
  return scale;
}

struct Case {
  int64_t batch, samples, n, hop, bands;
};
const Case kCases[] = {{2, 4410, 64, 16, 5},      {3, 5000, 128, 32, 20},
                       {1, 9000, 2048, 512, 320}, {2, 6000, 588, 147, 40},
                       {2, 6000, 1323, 441, 2},   {1, 4500, 30, 7, 3},
                       {4, 5000, 1000, 1001, 16}, {2, 4410, 64, 16, 1}};

graph::Function program(const Case& c, bool with_magnitude) {
  return with_gradients(
      "mel_spectrum", {parameter("x", {DType::kF32, {c.batch, c.samples}})}, [&](auto in) {
        const auto s = mel_spectrum(in[0], scale_of(c.n, c.hop, c.bands), with_magnitude);
        return with_magnitude ? graph::concatenate({s.bands_BTM, s.magnitude_BTF}, 2) : s.bands_BTM;
      });
}

const KernelCalls kBoth = {"hum.mel_spectrum", "hum.mel_spectrum_grad"};

TEST(MelSpectrum, ValuesAndGradientAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const Case& c : kCases) {
    for (const bool with_magnitude : {false, true}) {
      SCOPED_TRACE(fmt::format("window {}, {} bands, magnitude {}", c.n, c.bands, with_magnitude));
      const auto function = program(c, with_magnitude);
      expect_kernels_agree(function, random_inputs(function), 1e-5, kBoth);
    }
  }
}

TEST(MelSpectrum, OfSilenceHasNoGradientThatIsNotANumber) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program({1, 5000, 512, 128, 80}, true);
  auto inputs = random_inputs(function);
  std::ranges::fill(inputs[0].as<float>(), 0.0F);
  const auto results = run_kernels(function, inputs, kBoth);
  for (const float x : results[0].as<float>()) EXPECT_EQ(x, 0);
}

TEST(MelSpectrum, RefusesBinsInThreeBandsAndSignalsWithoutFrames) {
  const auto expect_refusal = [](int64_t samples, const MelScale& scale, const char* text) {
    try {
      mel_spectrum(parameter("x", {DType::kF32, {1, samples}}), scale, false);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  };
  MelScale scale = scale_of(64, 16, 5);
  expect_refusal(63, scale, "mel_spectrum: f32[1,63] has no frames of 64 samples every 16");
  std::fill_n(scale.weights.begin() + 7 * 5, 3, 1.0F);
  expect_refusal(4096, scale, "mel_spectrum: bin 7 counts in bands 0 and 2");
}

}  // namespace
}  // namespace hum::kernels
