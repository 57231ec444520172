#include "nn/waveform.h"

#include <cmath>

#include "base/error.h"
#include "kernels/polar/polar.h"
#include "kernels/stft/stft.h"

namespace hum::nn {

Spectrum analysis(const Value& x_BN, int64_t window_samples, int64_t hop_samples) {
  HUM_REQUIRE(x_BN.rank() == 2 && x_BN.size(1) % hop_samples == 0,
              "analysis: {} is not [batch, a multiple of {} samples]", x_BN.shape(), hop_samples);
  const int64_t extra = window_samples - hop_samples;
  const Value padded = graph::pad(x_BN, 0, {0, extra / 2}, {0, extra - extra / 2});
  return kernels::stft(padded, graph::hann_window(window_samples), hop_samples);
}

Value synthesis(const Spectrum& spectrum, int64_t window_samples, int64_t hop_samples) {
  HUM_REQUIRE(window_samples == 4 * hop_samples, "synthesis: window {} is not 4 hops of {}",
              window_samples, hop_samples);
  const int64_t samples = spectrum.real.size(1) * hop_samples;
  const Value whole =
      kernels::overlapped_irfft(spectrum, graph::hann_window(window_samples), hop_samples);
  const int64_t start = (window_samples - hop_samples) / 2;
  const Value sum = graph::slice_in_dim(whole, 1, start, start + samples);
  // Four squared Hann windows add up to 3/2 at every sample.
  return sum * (1 / 1.5);
}

Value polar_synthesis(const Value& head_BTX, int64_t window_samples, int64_t hop_samples) {
  const int64_t silent = window_samples / 2 + 1 - head_BTX.size(2) / 2;
  const auto [real, imag] = kernels::polar(head_BTX, std::log(100.0));
  const auto whole = [&](const Value& low) {
    return silent == 0 ? low : graph::pad_in_dim(low, 0, 2, 0, silent);
  };
  return synthesis({whole(real), whole(imag)}, window_samples, hop_samples);
}

std::vector<ConvNextBlock> convnext_stack(const Scope& scope, int64_t count,
                                          ConvNextBlock::Options options) {
  options.residual_scale = 1.0 / static_cast<double>(count);
  std::vector<ConvNextBlock> blocks;
  for (int64_t i = 0; i < count; ++i) blocks.emplace_back(scope.child("blocks", i), options);
  return blocks;
}

UpsamplingTrunk::UpsamplingTrunk(const Scope& scope, const Options& options)
    : options_(options),
      in_(scope.child("in"), options.in, options.width),
      up_(scope.child("up"), options.width, options.ratio * options.fine_width),
      blocks_(convnext_stack(scope.child("coarse"), options.blocks,
                             {.width = options.width, .hidden = 3 * options.width})),
      fine_blocks_(convnext_stack(scope.child("fine"), options.fine_blocks,
                                  {.width = options.fine_width, .hidden = 3 * options.fine_width})),
      norm_(scope.child("norm"), NormKind::kLayer, options.fine_width) {}

Value UpsamplingTrunk::coarse(const Value& x_BTI, const BlockOptions& options) const {
  return run_blocks(options, blocks_, in_(x_BTI));
}

Value UpsamplingTrunk::fine(const Value& coarse_BTW, const BlockOptions& options) const {
  const Value x = graph::reshape(
      up_(coarse_BTW),
      {coarse_BTW.size(0), coarse_BTW.size(1) * options_.ratio, options_.fine_width});
  return norm_(run_blocks(options, fine_blocks_, x));
}

}  // namespace hum::nn
