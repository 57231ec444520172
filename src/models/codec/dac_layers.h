// Layers of Descript's codec: convolutions with weight norm, snake, residual units.
//
// B batch, T time, C channels, I / O input / output channels, K kernel size.
// Source: Kumar et al. 2023, "High-fidelity audio compression with improved RVQGAN";
// descript-audio-codec 1.0.0, dac/nn/layers.py and dac/model/dac.py.
#pragma once

#include <cstdint>

#include "graph/ops.h"
#include "nn/parameters.h"

namespace hum::models::codec {

using graph::Value;

// The parametrisation of the convolutions' kernels.
enum class DacWeights {
  kFolded,      // <conv>.weight: for running
  kWeightNorm,  // <conv>.weight_g, <conv>.weight_v, as published: weight = g v / |v|, for training
};

enum class DacEdges {
  kPadded,    // zeros beyond both ends; lengths are whole hops
  kUnpadded,  // only results that do not depend on samples beyond the ends, for sound in chunks
};

// weight_v scaled so that its part at each index of dim 0 has the norm weight_g.
// Shapes: g [O, 1, 1], v [O, I, K] -> v's. Source: Salimans and Kingma 2016, "Weight
// normalization".
Value weight_norm(const Value& g_O11, const Value& v_OIK);

// x + sin(alpha x)^2 / alpha. Shapes: x_BTC, alpha [1, C, 1] -> BTC.
// Source: Ziyin et al. 2020, "Neural networks fail to learn periodic functions".
Value snake(const Value& x_BTC, const Value& alpha_1C1);

// A convolution (or its transpose) with bias; weights in PyTorch's layout, [O, I, K] ([I, O, K]).
class DacConv {
 public:
  struct Options {
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    // Padding on each side; a transposed convolution loses that many samples there.
    int64_t padding = 0;
    bool transposed = false;
  };
  DacConv() = default;
  DacConv(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t out, Options options);
  DacConv(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t out)
      : DacConv(scope, weights, in, out, Options()) {}
  Value operator()(const Value& x_BTI, DacEdges edges) const;

  // Length of the unpadded result for `input` samples (negative when too short), and the inverse:
  // the number of inputs that `result` samples depend on.
  int64_t unpadded_length(int64_t input) const;
  int64_t needed_length(int64_t result) const;

 private:
  Options options_;
  Value kernel_KIO_, bias_O_;
};

// x + conv1(snake(conv7(snake(x)))). Shapes: BTC -> BTC (unpadded: 3 dilation fewer on each side).
class DacResidualUnit {
 public:
  DacResidualUnit() = default;
  DacResidualUnit(const nn::Scope& scope, DacWeights weights, int64_t channels, int64_t dilation);
  Value operator()(const Value& x_BTC, DacEdges edges) const;

  const DacConv& wide() const { return wide_; }

 private:
  Value first_alpha_, second_alpha_;
  DacConv wide_, pointwise_;
};

}  // namespace hum::models::codec
