// Fourier transforms and frames: cases for the op table, their references plain sums.
#include "graph/ops/spectral.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "graph/ops/fft_impl.h"
#include "graph/ops/op_test.h"
#include "graph/stablehlo/print.h"
#include "runtime/testing.h"

namespace hum::graph::op_test {
namespace {

double angle_of(int64_t bin, int64_t t, int64_t n) {
  return 2 * std::numbers::pi * static_cast<double>(bin * t) / static_cast<double>(n);
}

// Dims without the last one, and the last index apart.
Dims lead(const Dims& index) { return {index.begin(), index.end() - 1}; }
Dims joined(Dims index, int64_t last) {
  index.push_back(last);
  return index;
}

Arrays reference_rfft(const Array& x) {
  const int64_t n = x.dims.back();
  const auto part = [&](auto wave) {
    return make_array(joined(lead(x.dims), n / 2 + 1), [&](const Dims& at) {
      double sum = 0;
      for (int64_t t = 0; t < n; ++t) {
        sum += x.at(joined(lead(at), t)) * wave(angle_of(at.back(), t, n));
      }
      return sum;
    });
  };
  return {part([](double a) { return std::cos(a); }), part([](double a) { return -std::sin(a); })};
}

Array reference_irfft(const Array& real, const Array& imag, int64_t n) {
  return make_array(joined(lead(real.dims), n), [&](const Dims& at) {
    double sum = 0;
    for (int64_t bin = 0; bin <= n / 2; ++bin) {
      const double weight = bin == 0 || 2 * bin == n ? 1 : 2, angle = angle_of(bin, at.back(), n);
      sum += weight * (real.at(joined(lead(at), bin)) * std::cos(angle) -
                       imag.at(joined(lead(at), bin)) * std::sin(angle));
    }
    return sum / static_cast<double>(n);
  });
}

Array reference_frame(const Array& x, int64_t length, int64_t hop) {
  return make_array({x.size(0), (x.size(1) - length) / hop + 1, length}, [&](const Dims& at) {
    return x.at({at[0], at[1] * hop + at[2]});
  });
}

Array reference_overlap(const Array& x, int64_t hop) {
  return make_array({x.size(0), (x.size(1) - 1) * hop + x.size(2)}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const int64_t i = at[1] - t * hop;
      if (i >= 0 && i < x.size(2)) sum += x.at({at[0], t, i});
    }
    return sum;
  });
}

Case rfft_case(Dims dims, bool products) {
  return {.name = fmt::format("rfft of {}{}", dims.back(), products ? " as products" : ""),
          .op = products ? "dot_general" : "rfft",
          .inputs = {f32(std::move(dims))},
          .build =
              [products](auto in) {
                const auto [real, imag] = products ? rfft_as_products(in[0]) : rfft(in[0]);
                return Values{real, imag};
              },
          .reference = [](auto in) { return reference_rfft(in[0]); },
          .in_bf16 = false};
}

Case irfft_case(int64_t n, bool products) {
  return {
      .name = fmt::format("irfft to {}{}", n, products ? " as products" : ""),
      .op = products ? "dot_general" : "irfft",
      .inputs = {f32({2, n / 2 + 1}), f32({2, n / 2 + 1})},
      .build =
          [n, products](auto in) {
            return Values{products ? irfft_as_products(in[0], in[1], n) : irfft(in[0], in[1], n)};
          },
      .reference = [n](auto in) { return Arrays{reference_irfft(in[0], in[1], n)}; },
      .in_bf16 = false};
}

Case frame_case(Dims dims, int64_t length, int64_t hop) {
  return {.name = fmt::format("frame of {} every {}", length, hop),
          .op = "",
          .inputs = {f32(std::move(dims))},
          .build = [=](auto in) { return Values{frame(in[0], length, hop)}; },
          .reference = [=](auto in) { return Arrays{reference_frame(in[0], length, hop)}; }};
}

Case overlap_case(Dims dims, int64_t hop) {
  return {.name = fmt::format("overlap_add of {} every {}", dims.back(), hop),
          .op = "",
          .inputs = {f32(std::move(dims))},
          .build = [=](auto in) { return Values{overlap_add(in[0], hop)}; },
          .reference = [=](auto in) { return Arrays{reference_overlap(in[0], hop)}; }};
}

Case stft_case() {
  return {.name = "stft of 8 every 3",
          .op = "rfft",
          .inputs = {f32({2, 20})},
          .build =
              [](auto in) {
                const auto [real, imag] = stft(in[0], hann_window(8), 3);
                return Values{real, imag};
              },
          .reference =
              [](auto in) {
                const auto window = hann_window(8);
                Array frames = reference_frame(in[0], 8, 3);
                for (size_t i = 0; i < frames.data.size(); ++i) frames.data[i] *= window[i % 8];
                return reference_rfft(frames);
              },
          .in_bf16 = false};
}

// istft undoes stft, wherever some window is not zero: all but sample 0.
Case istft_case(int64_t n, int64_t hop, int64_t frames) {
  const int64_t samples = (frames - 1) * hop + n;
  return {.name = fmt::format("istft of {} every {}", n, hop),
          .op = "irfft",
          .inputs = {f32({2, samples})},
          .build =
              [=](auto in) {
                return Values{istft(stft(in[0], hann_window(n), hop), hann_window(n), hop)};
              },
          .reference =
              [](auto in) {
                return Arrays{make_array(
                    in[0].dims, [&](const Dims& at) { return at[1] == 0 ? 0 : in[0].at(at); })};
              },
          .in_bf16 = false,
          .bounds = {.value = 5e-5}};
}

}  // namespace

Family spectral_family() {
  return {
      .name = "Spectral",
      .cases = {rfft_case({2, 3, 8}, false),
                rfft_case({2, 9}, false),
                rfft_case({12}, false),
                rfft_case({2, 8}, true),
                rfft_case({2, 9}, true),
                irfft_case(8, false),
                irfft_case(9, false),
                irfft_case(8, true),
                irfft_case(9, true),
                frame_case({2, 16}, 4, 4),
                frame_case({2, 17}, 8, 2),
                frame_case({1, 19}, 8, 3),
                frame_case({2, 21}, 3, 5),
                frame_case({2, 7}, 7, 2),
                overlap_case({2, 4, 6}, 2),
                overlap_case({2, 3, 8}, 3),
                overlap_case({1, 3, 2}, 4),
                overlap_case({2, 1, 5}, 3),
                stft_case(),
                istft_case(8, 2, 5),
                istft_case(12, 3, 4)},
      .shape_errors = {{"rfft",
                        [] {
                          return rfft(parameter("x", {DType::kBF16, {4}})).real;
                        },
                        "rfft: needs f32 with at least 2 samples in the last dim, not bf16[4]"},
                       {"irfft",
                        [] {
                          const Value x = parameter("x", {DType::kF32, {2, 5}});
                          return irfft(x, x, 10);
                        },
                        "irfft: 10 samples have 6 bins, not 5 as in f32[2,5]"},
                       {"",
                        [] {
                          return frame(parameter("x", {DType::kF32, {2, 5}}), 8, 2);
                        },
                        "frame: f32[2,5] has no frames of 8 samples every 2"}},
      .placements = {{"rfft",
                      [] {
                        return rfft(placed({DType::kF32, {2, 8}}, sharded(0))).real;
                      },
                      "data: R, tensor: S(0)"},
                     {"rfft",
                      [] {
                        return rfft(placed({DType::kF32, {2, 8}}, kPartial)).real;
                      },
                      "data: R, tensor: P"},
                     {"rfft",
                      [] {
                        return rfft(placed({DType::kF32, {2, 8}}, sharded(1))).real;
                      },
                      "rfft: f32[2,8] is placed data: R, tensor: S(1): dim 1 is sharded, and the "
                      "transform needs all of it"},
                     {"irfft",
                      [] {
                        const Value x = placed({DType::kF32, {2, 5}}, kPartial);
                        return irfft(x, x, 8);
                      },
                      "data: R, tensor: P"}},
  };
}

TEST(Rfft, IsPrintedAsProductsWhereThereAreNoComplexNumbers) {
  const Value x = parameter("x", {DType::kF32, {2, 8}});
  const auto [real, imag] = rfft(x);
  const Function function{.parameters = {x}, .results = {irfft(real, imag, 8)}};
  Lowering lowering;
  EXPECT_THAT(print_module(function, lowering), ::testing::HasSubstr("complex"));
  lowering.has_fft = false;
  const std::string text = print_module(function, lowering);
  EXPECT_THAT(text, Not(::testing::HasSubstr("complex")));
  EXPECT_THAT(text, Not(::testing::HasSubstr("fft")));
}

// The sizes that the models use, against sums in double.
TEST(Rfft, IsExactAtTheModelsSizes) {
  Values parameters, results;
  std::vector<runtime::HostTensor> inputs;
  Arrays wanted;
  for (const int64_t n : {512, 588, 882, 1024, 2048}) {
    Array x = make_array({n}, [](const Dims& at) {
      return static_cast<float>(std::sin(0.1 * static_cast<double>(at[0] * at[0])));
    });
    const std::vector<float> samples(x.data.begin(), x.data.end());
    inputs.push_back(runtime::HostTensor::of({n}, std::span<const float>(samples)));
    parameters.push_back(parameter("x", {DType::kF32, {n}}));
    const auto [real, imag] = rfft(parameters.back());
    for (const Value& result : {real, imag, irfft(real, imag, n)}) results.push_back(result);
    for (Array& array : reference_rfft(x)) wanted.push_back(std::move(array));
    wanted.push_back(std::move(x));
  }
  const auto got = runtime::evaluate(results, parameters, inputs);
  for (size_t r = 0; r < got.size(); ++r) {
    const auto numbers = got[r].as<float>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_NEAR(numbers[i], wanted[r].data[i], 2e-5) << "result " << r << ", element " << i;
    }
  }
}

}  // namespace hum::graph::op_test
