#include "train/optimizer.h"

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
  const double span = std::max(1.0, static_cast<double>(total_steps) - warm_up);
  const double progress = std::min(1.0, (at - warm_up) / span);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return config.final_learning_rate + (config.learning_rate - config.final_learning_rate) * cosine;
}

Update adamw(const OptimizerConfig& config, const OptimizerState& state,
             const graph::Values& gradients, const Value& step, const Value& learning_rate,
             const Value& key) {
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
    const Value& p = state.parameters[i];
    const bool decays = p.rank() - (state.stacked.empty() ? 0 : state.stacked[i]) >= 2;
    const AdamwResult result = p.dtype() == graph::DType::kBF16
                                   ? kernels::adamw({p, state.means[i], state.squares[i],
                                                     gradients[i], decays, state.streams.at(i)},
                                                    numbers, key)
                                   : update_f32(config, state, i, gradients[i], shared, decays);
    update.state.parameters.push_back(result.weights);
    update.state.means.push_back(result.mean);
    update.state.squares.push_back(result.square);
  }
  return update;
}

}  // namespace hum::train
