// Converts between waveforms and frames: analysis and synthesis at a hop, and the trunk that raises
// the frame rate.
#pragma once

#include <vector>

#include "nn/blocks.h"
#include "nn/layers.h"

namespace hum::nn {

using graph::Spectrum;

// Hann-windowed spectra, one per hop; the signal is padded so that there are exactly N / hop
// frames.
// Shapes: x_BN -> two of [B, N / hop, window/2 + 1].
Spectrum analysis(const Value& x_BN, int64_t window_samples, int64_t hop_samples);
// The inverse of analysis() away from the ends, for hop = window / 4.
// Shapes: [B, T, window/2 + 1] -> [B, T hop].
Value synthesis(const Spectrum& spectrum, int64_t window_samples, int64_t hop_samples);

// Sound from log magnitudes and phases of a window's lowest bins (kernels/polar), magnitudes up to
// 100; the bins above are silent. Shapes: head_BTX, X = 2 bins -> [B, T hop].
Value polar_synthesis(const Value& head_BTX, int64_t window_samples, int64_t hop_samples);

// `count` blocks, residuals scaled by 1 / count.
std::vector<ConvNextBlock> convnext_stack(const Scope& scope, int64_t count,
                                          ConvNextBlock::Options options);

// A stack at the codec's frame rate, upsampling to `ratio` times as many frames, a stack at that
// rate, a norm.
// Shapes: x_BTI -> [B, ratio T, fine_width]; or in two halves: coarse x_BTI -> [B, T, width], then
// fine.
class UpsamplingTrunk {
 public:
  struct Options {
    int64_t in = 64, width = 256, blocks = 5, fine_width = 192, fine_blocks = 3, ratio = 3;
  };
  UpsamplingTrunk() = default;
  UpsamplingTrunk(const Scope& scope, const Options& options);
  Value operator()(const Value& x_BTI, const BlockOptions& options = {}) const {
    return fine(coarse(x_BTI, options), options);
  }
  Value coarse(const Value& x_BTI, const BlockOptions& options) const;
  Value fine(const Value& coarse_BTW, const BlockOptions& options) const;

 private:
  Options options_;
  Linear in_, up_;
  std::vector<ConvNextBlock> blocks_, fine_blocks_;
  Norm norm_;
};

}  // namespace hum::nn
