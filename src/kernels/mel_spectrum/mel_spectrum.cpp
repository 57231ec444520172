#include "kernels/mel_spectrum/mel_spectrum.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

struct BinWeights {
  std::vector<int32_t> first;  // [F]
  std::vector<float> weights;  // [F, 2]
};

BinWeights bin_weights(const MelScale& scale, std::source_location where) {
  const size_t bins = scale.window.size() / 2 + 1, bands = static_cast<size_t>(scale.bands);
  HUM_REQUIRE(bands >= 1 && scale.weights.size() == bins * bands,
              "mel_spectrum: {} weights for {} bins and {} bands", scale.weights.size(), bins,
              bands);
  BinWeights result;
  for (size_t bin = 0; bin < bins; ++bin) {
    const std::span row = std::span(scale.weights).subspan(bin * bands, bands);
    size_t first = 0;
    while (first + 2 < bands && row[first] == 0) ++first;
    for (size_t band = first + 2; band < bands; ++band) {
      if (row[band] == 0) continue;
      fail(ExitCode::kFailure,
           fmt::format("mel_spectrum: bin {} counts in bands {} and {}", bin, first, band), "",
           where);
    }
    result.first.push_back(static_cast<int32_t>(first));
    result.weights.insert(result.weights.end(), {row[first], bands > 1 ? row[first + 1] : 0});
  }
  return result;
}

Values plain(const Value& x, const MelScale& scale, bool with_magnitude) {
  const auto n = static_cast<int64_t>(scale.window.size());
  const Value window = graph::constant(std::span<const float>(scale.window), {n});
  const auto s = graph::rfft(graph::frame(x, n, scale.hop) * window);
  const Value magnitude =
      graph::sqrt(s.real * s.real + s.imag * s.imag + scale.epsilon * scale.epsilon);
  Values results = {graph::matmul(
      magnitude, graph::constant(std::span<const float>(scale.weights), {n / 2 + 1, scale.bands}))};
  if (with_magnitude) results.push_back(magnitude);
  return results;
}

// The gradient for inputs[0], given the cotangents of the results.
Value gradient(std::span<const Value> inputs, std::span<const Value> cotangents,
               const graph::Attributes& settings, const MelScale& scale,
               std::source_location where) {
  Values all(inputs.begin(), inputs.end());
  all.insert(all.end(), cotangents.begin(), cotangents.end());
  const auto fallback = [&](std::span<const Value> in) -> Values {
    return graph::pullback(plain(in[0], scale, in.size() == 6), in.subspan(4), in.first(1));
  };
  return graph::custom_call(kMelSpectrumGradKernel.call.name, all, settings, fallback, {},
                            where)[0];
}

}  // namespace

MelSpectrum mel_spectrum(const Value& x, const MelScale& scale, bool with_magnitude,
                         std::source_location where) {
  const auto n = static_cast<int64_t>(scale.window.size());
  if (x.rank() != 2 || x.dtype() != DType::kF32 || scale.hop < 1 || n < 2 || n > x.size(1)) {
    fail(ExitCode::kFailure,
         fmt::format("mel_spectrum: {} has no frames of {} samples every {}", x.shape(), n,
                     scale.hop),
         "", where);
  }
  const BinWeights weights = bin_weights(scale, where);
  const int64_t bins = n / 2 + 1;
  const Values inputs = {x, graph::constant(std::span<const float>(scale.window), {n}),
                         graph::constant(std::span<const int32_t>(weights.first), {bins}),
                         graph::constant(std::span<const float>(weights.weights), {bins, 2})};
  graph::Attributes settings;
  settings.set("hop", scale.hop);
  settings.set("epsilon", scale.epsilon);
  const auto vjp = [=](std::span<const Value> in, std::span<const Value> results,
                       std::span<const Value> cotangents) {
    Values all(cotangents.begin(), cotangents.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) all[i] = graph::zeros_like(results[i]);
    }
    return Values{gradient(in, all, settings, scale, where), Value(), Value(), Value()};
  };
  const Values results = graph::custom_call(
      kMelSpectrumKernel.call.name, inputs, settings,
      [&](std::span<const Value> in) { return plain(in[0], scale, with_magnitude); }, {.vjp = vjp},
      where);
  return {results[0], with_magnitude ? results[1] : Value()};
}

}  // namespace hum::kernels
