// AdamW or Muon with a schedule, global-norm clipping and running means of the weights, as graph
// code.
// Source: Loshchilov & Hutter 2019 (decoupled weight decay); PyTorch's AdamW for the order of
// operations.
#pragma once

#include <utility>

#include "base/fields.h"
#include "graph/value.h"
#include "nn/parameters.h"
#include "train/muon.h"

namespace hum::train {

// The type in which a step keeps the weights that it trains. bf16 applies to weights of two or more
// dims, with f32 moments, and rounds them stochastically after each update; vectors stay f32. It
// halves their bytes and keeps no f32 master copy.
enum class WeightsType { kF32, kBF16 };
inline EnumNames<WeightsType> enum_names(WeightsType) {
  static constexpr std::pair<WeightsType, std::string_view> kNames[] = {
      {WeightsType::kF32, "f32"}, {WeightsType::kBF16, "bf16"}};
  return kNames;
}

// muon: Muon for hidden matrices (nn::Parameter::hidden), AdamW for all others.
enum class OptimizerKind { kAdamW, kMuon };
inline EnumNames<OptimizerKind> enum_names(OptimizerKind) {
  static constexpr std::pair<OptimizerKind, std::string_view> kNames[] = {
      {OptimizerKind::kAdamW, "adamw"}, {OptimizerKind::kMuon, "muon"}};
  return kNames;
}

// The learning rate after the warm-up. cosine: half a cosine down to the last step. wsd
// (warm-up-stable-decay): constant, then down over the last decay_share of the steps as 1 - sqrt.
// Source: Hu et al. 2024, "MiniCPM", for wsd; Hagele et al. 2024, "Scaling laws and compute-optimal
// training beyond fixed training durations", for 1 - sqrt and the share.
enum class Schedule { kCosine, kWsd };
inline EnumNames<Schedule> enum_names(Schedule) {
  static constexpr std::pair<Schedule, std::string_view> kNames[] = {{Schedule::kCosine, "cosine"},
                                                                     {Schedule::kWsd, "wsd"}};
  return kNames;
}

struct OptimizerConfig {
  double learning_rate = 5e-4;
  double final_learning_rate = 2e-5;
  int64_t warm_up_steps = 100;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  double clip_norm = 1.0;
  WeightsType weights = WeightsType::kF32;
  OptimizerKind kind = OptimizerKind::kAdamW;
  MuonConfig muon = {};
  Schedule schedule = Schedule::kCosine;
  double decay_share = 0.2;
  // Decay of the running means of trained parameters; 0: none are kept.
  double ema = 0;

  template <class V>
  void visit_fields(V& v) {
    v("learning_rate", learning_rate, "peak learning rate");
    v("final_learning_rate", final_learning_rate, "learning rate at the last step");
    v("warm_up_steps", warm_up_steps, "steps of linear warm-up");
    v("beta1", beta1, "decay of the gradient mean");
    v("beta2", beta2, "decay of the squared-gradient mean");
    v("epsilon", epsilon, "added to the root of the squared-gradient mean");
    v("weight_decay", weight_decay, "decoupled decay of matrices (not of vectors)");
    v("clip_norm", clip_norm, "largest global gradient norm (0: no clipping)");
    v("weights", weights,
      "type of trained matrices between steps: f32, or bf16 with stochastic rounding");
    v("kind", kind, "adamw, or muon: Muon for hidden matrices and AdamW for the others");
    v("muon", muon, "Muon's settings");
    v("schedule", schedule, "learning rate after the warm-up: cosine or wsd");
    v("decay_share", decay_share, "wsd: share of the steps, the last ones, in which it decays");
    v("ema", ema,
      "decay of the running means of the weights, which are validated and released (0: none)");
  }
};

// The learning rate of a step: linear warm-up, then by the schedule down to final_learning_rate at
// total_steps.
double learning_rate_at(const OptimizerConfig& config, int64_t step, int64_t total_steps);

struct OptimizerState {
  // f32 or bf16.
  graph::Values parameters;
  // Moments; Muon's matrices have no square (an empty value).
  graph::Values means, squares;
  // The number of leading dims of each that index the layers of a stack; empty: none.
  std::vector<int> stacked = {};
  // For weights in bf16: the random stream that rounds each member of the stack.
  std::vector<std::vector<uint32_t>> streams = {};
  // Running means of the parameters, f32; empty without OptimizerConfig::ema.
  graph::Values averages = {};
};

struct Update {
  OptimizerState state;
  // L2 norm of all gradients before clipping, f32 scalar.
  graph::Value gradient_norm;
};

// Makes one update: Muon's for parameters without a square, AdamW's for the others. gradients: f32;
// step: f32 scalar, 1 at the first update; learning_rate: f32 scalar; key: u32[2], for this step's
// stochastic rounding of parameters in bf16.
Update optimizer_update(const OptimizerConfig& config, const OptimizerState& state,
                        const graph::Values& gradients, const graph::Value& step,
                        const graph::Value& learning_rate, const graph::Value& key = {});

}  // namespace hum::train
