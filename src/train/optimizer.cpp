#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/adamw/adamw.h"

namespace hum::train {

using graph::Value;

namespace {

// A single f32 sum over millions of elements has an error of 1e-5 to 1e-4, and clipping inherits it
// in every step. So rows are summed first; the barrier stops the compiler from merging the two
// sums.
Value sum_of_squares(const Value& x) {
  if (x.rank() < 2) return graph::sum_all(x * x);
  const Value rows = graph::reduce_sum(x * x, {-1});
  return graph::sum_all(graph::optimization_barrier(graph::Values{rows})[0]);
}

using kernels::AdamwResult;
using kernels::AdamwStep;

// Updates parameter `i` with weights in f32.
AdamwResult update_f32(const OptimizerConfig& config, const OptimizerState& state, size_t i,
                       const Value& gradient, const AdamwStep& step, bool decays) {
  const Value& p = state.parameters[i];
  const Value g = gradient * step.clip;
  const Value m = state.means[i] * config.beta1 + g * (1 - config.beta1);
  const Value v = state.squares[i] * config.beta2 + g * g * (1 - config.beta2);
  Value direction = (m * step.unbias1) / (graph::sqrt(v * step.unbias2) + config.epsilon);
  if (decays) direction = direction + p * config.weight_decay;
  return {p - direction * step.learning_rate, m, v};
}

Value global_norm(const graph::Values& gradients) {
  Value square_sum;
  for (const Value& gradient : gradients) {
    const Value squares = sum_of_squares(gradient);
    square_sum = square_sum ? square_sum + squares : squares;
  }
  return graph::sqrt(square_sum);
}

}  // namespace

double learning_rate_at(const OptimizerConfig& config, int64_t step, int64_t total_steps) {
  const auto at = static_cast<double>(step + 1);
  const auto warm_up = static_cast<double>(config.warm_up_steps);
  if (at < warm_up) return config.learning_rate * at / warm_up;
  const auto total = static_cast<double>(total_steps);
  const double start = config.schedule == Schedule::kWsd
                           ? std::max(warm_up, total * (1 - config.decay_share))
                           : warm_up;
  const double progress = std::clamp((at - start) / std::max(1.0, total - start), 0.0, 1.0);
  const double share = config.schedule == Schedule::kWsd
                           ? 1 - std::sqrt(progress)
                           : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return config.final_learning_rate + (config.learning_rate - config.final_learning_rate) * share;
}

namespace {

// Updates parameter `i` by AdamW.
AdamwResult adamw_update(const OptimizerConfig& config, const OptimizerState& state, size_t i,
                         const Value& gradient, const AdamwStep& shared, const Value& numbers,
                         const Value& key) {
  const Value& p = state.parameters[i];
  const bool decays = p.rank() - (state.stacked.empty() ? 0 : state.stacked[i]) >= 2;
  return p.dtype() == graph::DType::kBF16 ? kernels::adamw({p, state.means[i], state.squares[i],
                                                            gradient, decays, state.streams.at(i)},
                                                           numbers, key)
                                          : update_f32(config, state, i, gradient, shared, decays);
}

// Updates parameter `i` by Muon; there is no square.
AdamwResult muon_update(const OptimizerConfig& config, const OptimizerState& state, size_t i,
                        const Value& gradient, const AdamwStep& shared, const Value& key) {
  const Value& p = state.parameters[i];
  const MuonResult result = muon(
      config.muon, {graph::convert(p, graph::DType::kF32), state.means[i], gradient * shared.clip},
      shared.learning_rate, config.weight_decay);
  const Value weights = p.dtype() == graph::DType::kBF16
                            ? graph::round_stochastically(result.weights, key, state.streams.at(i))
                            : result.weights;
  return {weights, result.momentum, Value()};
}

// The decay starts low, so that the first weights do not stay in the means.
graph::Values moved_averages(double decay, const graph::Values& averages,
                             const graph::Values& parameters, const Value& step) {
  const Value keep = graph::minimum(step / (step + 9), decay);  // (1 + t) / (10 + t), t = step - 1
  graph::Values moved;
  for (size_t i = 0; i < averages.size(); ++i) {
    const Value weights = graph::convert(parameters[i], graph::DType::kF32);
    moved.push_back(averages[i] + (weights - averages[i]) * (1 - keep));
  }
  return moved;
}

}  // namespace

Update optimizer_update(const OptimizerConfig& config, const OptimizerState& state,
                        const graph::Values& gradients, const Value& step,
                        const Value& learning_rate, const Value& key) {
  HUM_CHECK(gradients.size() == state.parameters.size());
  Update update;
  update.gradient_norm = global_norm(gradients);
  const Value clip = config.clip_norm > 0
                         ? graph::minimum(config.clip_norm / (update.gradient_norm + 1e-6), 1)
                         : graph::constant(1, {graph::DType::kF32, {}});
  const AdamwStep shared = {clip, learning_rate, 1 / (1 - graph::power(config.beta1, step)),
                            1 / (1 - graph::power(config.beta2, step))};
  const Value numbers = kernels::adamw_numbers(
      shared, {config.beta1, config.beta2, config.epsilon, config.weight_decay});
  for (size_t i = 0; i < gradients.size(); ++i) {
    const AdamwResult result =
        state.squares[i] ? adamw_update(config, state, i, gradients[i], shared, numbers, key)
                         : muon_update(config, state, i, gradients[i], shared, key);
    update.state.parameters.push_back(result.weights);
    update.state.means.push_back(result.mean);
    update.state.squares.push_back(result.square);
  }
  update.state.averages = moved_averages(config.ema, state.averages, update.state.parameters, step);
  return update;
}

}  // namespace hum::train
