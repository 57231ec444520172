#include "kernels/stft/stft.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Spectrum;
using graph::Value;
using graph::Values;

Values plain_stft(const Value& x, const Value& window, int64_t hop) {
  const Spectrum s = graph::rfft(graph::frame(x, window.size(0), hop) * window);
  return {s.real, s.imag};
}

Value plain_inverse(const Value& real, const Value& imag, const Value& window, int64_t hop) {
  return graph::overlap_add(graph::irfft(real, imag, window.size(0)) * window, hop);
}

// samples: at least those that the frames cover; the rest are zero.
Value plain_adjoint(const Value& real, const Value& imag, const Value& window, int64_t hop,
                    int64_t samples) {
  const Value x =
      graph::broadcast_to(graph::constant(0, {DType::kF32, {}}), {real.size(0), samples});
  return graph::pullback(plain_stft(x, window, hop), Values{real, imag}, Values{x})[0];
}

Values forward(const Value& x, const Value& window, int64_t hop, std::source_location where);

// The adjoint of forward(), or with `inverse` the windowed inverse transforms.
Value backward(const Value& real, const Value& imag, const Value& window, int64_t hop,
               int64_t samples, bool inverse, std::source_location where) {
  graph::Attributes settings;
  settings.set("hop", hop);
  settings.set("inverse", inverse);
  const auto fallback = [&](std::span<const Value> in) -> Values {
    return {inverse ? plain_inverse(in[0], in[1], in[2], hop)
                    : plain_adjoint(in[0], in[1], in[2], hop, samples)};
  };
  graph::CustomCallOptions options;
  if (!inverse) {
    options.vjp = [=](std::span<const Value> in, std::span<const Value>,
                      std::span<const Value> cotangents) {
      Values result = forward(cotangents[0], in[2], hop, where);
      result.emplace_back();  // windows are constants
      return result;
    };
  } else {
    // irfft weighs bin k by 1/n, or by 2/n where bin n - k is its mirror image. Imaginary parts of
    // the other bins do not count; in forward's result they are zero.
    options.vjp = [=](std::span<const Value> in, std::span<const Value>,
                      std::span<const Value> cotangents) {
      const int64_t n = in[2].size(0), bins = in[0].size(2);
      std::vector<float> weights(static_cast<size_t>(bins), 2.0F / static_cast<float>(n));
      weights[0] = 1.0F / static_cast<float>(n);
      if (n % 2 == 0) weights.back() = weights[0];
      const Value weight = graph::constant(std::span<const float>(weights), {bins});
      const Values s = forward(cotangents[0], in[2], hop, where);
      return Values{s[0] * weight, s[1] * weight, Value()};
    };
  }
  return graph::custom_call(kStftAdjointKernel.call.name, Values{real, imag, window}, settings,
                            fallback, std::move(options), where)[0];
}

Values forward(const Value& x, const Value& window, int64_t hop, std::source_location where) {
  graph::Attributes settings;
  settings.set("hop", hop);
  const auto fallback = [&](std::span<const Value> in) { return plain_stft(in[0], in[1], hop); };
  const auto vjp = [=](std::span<const Value> in, std::span<const Value>,
                       std::span<const Value> cotangents) {
    const auto or_zeros = [&](size_t i, size_t other) {
      return cotangents[i] ? cotangents[i] : graph::zeros_like(cotangents[other]);
    };
    return Values{backward(or_zeros(0, 1), or_zeros(1, 0), in[1], hop, in[0].size(1),
                           /*inverse=*/false, where),
                  Value()};
  };
  return graph::custom_call(kStftKernel.call.name, Values{x, window}, settings, fallback,
                            {.vjp = vjp}, where);
}

Value window_value(std::span<const float> window) {
  return graph::constant(window, {static_cast<int64_t>(window.size())});
}

}  // namespace

Spectrum stft(const Value& x_BN, std::span<const float> window, int64_t hop,
              std::source_location where) {
  const auto n = static_cast<int64_t>(window.size());
  if (x_BN.rank() != 2 || x_BN.dtype() != DType::kF32 || hop < 1 || n < 1 || n > x_BN.size(1)) {
    fail(ExitCode::kFailure,
         fmt::format("stft: {} has no frames of {} samples every {}", x_BN.shape(), n, hop), "",
         where);
  }
  const Values s = forward(x_BN, window_value(window), hop, where);
  return {s[0], s[1]};
}

Value overlapped_irfft(const Spectrum& spectrum, std::span<const float> window, int64_t hop,
                       std::source_location where) {
  const auto n = static_cast<int64_t>(window.size());
  const graph::Shape& shape = spectrum.real.shape();
  if (shape.rank() != 3 || shape.dtype != DType::kF32 || spectrum.imag.shape() != shape ||
      hop < 1 || n < 1 || shape.dims[2] != n / 2 + 1) {
    fail(ExitCode::kFailure,
         fmt::format("overlapped_irfft: {} and {} are not spectra of {} samples", shape,
                     spectrum.imag.shape(), n),
         "", where);
  }
  return backward(spectrum.real, spectrum.imag, window_value(window), hop,
                  (shape.dims[1] - 1) * hop + n, /*inverse=*/true, where);
}

}  // namespace hum::kernels
