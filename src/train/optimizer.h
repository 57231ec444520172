// AdamW with warm-up, cosine decay and global-norm clipping, as graph code.
// Source: Loshchilov & Hutter 2019 (decoupled weight decay); PyTorch's AdamW for the order of
// operations.
#pragma once

#include "base/fields.h"
#include "graph/value.h"
#include "nn/parameters.h"

namespace hum::train {

struct OptimizerConfig {
  double learning_rate = 5e-4;
  double final_learning_rate = 2e-5;
  int64_t warm_up_steps = 100;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  double clip_norm = 1.0;

  template <class V>
  void visit_fields(V& v) {
    v("learning_rate", learning_rate, "peak learning rate");
    v("final_learning_rate", final_learning_rate, "learning rate at the last step");
    v("warm_up_steps", warm_up_steps, "steps of linear warm-up");
    v("beta1", beta1, "decay of the gradient mean");
    v("beta2", beta2, "decay of the squared-gradient mean");
    v("epsilon", epsilon, "added to the root of the squared-gradient mean");
    v("weight_decay", weight_decay, "decoupled decay of matrices (not of vectors)");
    v("clip_norm", clip_norm, "largest global gradient norm; 0: no clipping");
  }
};

// The learning rate of a step: linear warm-up, then half a cosine down to final_learning_rate at
// total_steps.
double learning_rate_at(const OptimizerConfig& config, int64_t step, int64_t total_steps);

struct OptimizerState {
  graph::Values parameters, means, squares;
  // How many leading dims of each count layers of a stack; empty: none of any.
  std::vector<int> stacked = {};
};

struct Update {
  OptimizerState state;
  // L2 norm of all gradients before clipping, f32 scalar.
  graph::Value gradient_norm;
};

// One step. step: f32 scalar, 1 at the first update; learning_rate: f32 scalar.
Update adamw(const OptimizerConfig& config, const OptimizerState& state,
             const graph::Values& gradients, const graph::Value& step,
             const graph::Value& learning_rate);

}  // namespace hum::train
