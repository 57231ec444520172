// Layers shared by hum's models. A layer declares its parameters on construction and computes when
// called.
//
// B batch, T time, D width, C channels. Weights are f32 masters; a layer computes in the element
// type of its input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ops.h"
#include "nn/parameters.h"

namespace hum::nn {

using graph::Value;

// x[..., in] -> [..., out]. weight is [out, in] as in PyTorch, so checkpoints are interchangeable.
class Linear {
 public:
  struct Options {
    bool bias = true;
    // Standard deviation of the weight; 0: 1/sqrt(in).
    double init = 0;
    // Whether it is between hidden layers (parameters.h).
    bool hidden = false;
  };
  Linear() = default;
  Linear(const Scope& scope, int64_t in, int64_t out, Options options);
  Linear(const Scope& scope, int64_t in, int64_t out) : Linear(scope, in, out, Options()) {}
  Value operator()(const Value& x) const;
  // For a fused kernel that adds the bias itself.
  Value without_bias(const Value& x) const;
  const Value& bias() const { return bias_; }
  // [out, in], for a fused kernel.
  Value matrix(graph::DType dtype) const { return graph::convert(weight_, dtype); }

 private:
  Value weight_, bias_;
};

// Computes linear layers of the same input as one product. Each part keeps its own logical tensors
// ("q_proj.weight"), which the parameter list joins (parameters.h: declare_joined). Each group has
// its share of every part. Shapes: x[..., in] -> [..., layout...], whose elements are [groups,
// shares of part 0, of part 1, ...].
class JoinedLinear {
 public:
  struct Part {
    std::string name;
    int64_t out;
  };
  JoinedLinear() = default;
  JoinedLinear(const Scope& scope, const std::string& name, int64_t in,
               const std::vector<Part>& parts, int64_t groups, graph::Dims layout,
               Linear::Options options);
  Value operator()(const Value& x) const;
  // [all parts' outputs, in], for a fused kernel.
  Value matrix(graph::DType dtype) const;

 private:
  graph::Dims layout_;
  Value weight_, bias_;
};

enum class NormKind { kRms, kLayer };

// Over the last dim, in f32, result in x's type.
class Norm {
 public:
  Norm() = default;
  Norm(const Scope& scope, NormKind kind, int64_t width, double epsilon = 1e-5);
  Value operator()(const Value& x) const;
  const Value& weight() const { return weight_; }

 private:
  NormKind kind_ = NormKind::kLayer;
  Value weight_, bias_;
  double epsilon_ = 0;
};

// Feature-wise scale and shift from a conditioning vector: x * (1 + scale) + shift. Initially close
// to the identity. Shapes: x_BTD, condition_BC -> BTD. Source: Perez et al. 2018, "FiLM".
class Film {
 public:
  Film() = default;
  Film(const Scope& scope, int64_t condition, int64_t width);
  Value operator()(const Value& x_BTD, const Value& condition_BC) const;

 private:
  Linear scale_shift_;
  int64_t width_ = 0;
};

// x + scale * W2 gelu(W1 norm(depthwise_conv(x))), with FiLM after the norm when a condition is
// given. Shapes: x_BTD -> BTD, time kept ("same" padding). Source: Liu et al. 2022, "A ConvNet for
// the 2020s".
class ConvNextBlock {
 public:
  struct Options {
    int64_t width = 256;
    int64_t hidden = 768;
    int64_t kernel = 7;
    // Size of the conditioning vector; 0: none.
    int64_t condition = 0;
    // Initial residual scale: about 1 / number of blocks.
    double residual_scale = 0.2;
    // True: outputs depend only on the present and past.
    bool causal = false;
  };
  ConvNextBlock() = default;
  ConvNextBlock(const Scope& scope, const Options& options);
  Value operator()(const Value& x_BTD, const Value& condition_BC = {}) const;

 private:
  Options options_;
  Value kernel_KD_, kernel_bias_D_, residual_scale_D_;
  Norm norm_;
  Linear up_, down_;
  Film film_;
};

// Mean over all elements where mask (same shape or broadcastable, f32 0/1) is one.
Value masked_mean(const Value& x, const Value& mask);

}  // namespace hum::nn
