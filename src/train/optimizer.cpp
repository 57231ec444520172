#include "train/optimizer.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "graph/ops.h"

namespace hum::train {

using graph::Value;

namespace {

// One running f32 sum over millions of elements is 1e-5 to 1e-4 off, and so is then the clipping of
// every step. Rows are summed first; the barrier keeps the compiler from merging the two sums.
Value sum_of_squares(const Value& x) {
  if (x.rank() < 2) return graph::sum_all(x * x);
  const Value rows = graph::reduce_sum(x * x, {-1});
  return graph::sum_all(graph::optimization_barrier(graph::Values{rows})[0]);
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
             const graph::Values& gradients, const Value& step, const Value& learning_rate) {
  HUM_CHECK(gradients.size() == state.parameters.size());
  Value square_sum;
  for (const Value& gradient : gradients) {
    const Value squares = sum_of_squares(gradient);
    square_sum = square_sum ? square_sum + squares : squares;
  }
  Update update;
  update.gradient_norm = graph::sqrt(square_sum);
  const Value clip = config.clip_norm > 0
                         ? graph::minimum(config.clip_norm / (update.gradient_norm + 1e-6), 1)
                         : graph::constant(1, {graph::DType::kF32, {}});
  const Value unbias1 = 1 / (1 - graph::power(config.beta1, step));
  const Value unbias2 = 1 / (1 - graph::power(config.beta2, step));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Value& p = state.parameters[i];
    const Value g = gradients[i] * clip;
    const Value m = state.means[i] * config.beta1 + g * (1 - config.beta1);
    const Value v = state.squares[i] * config.beta2 + g * g * (1 - config.beta2);
    Value direction = (m * unbias1) / (graph::sqrt(v * unbias2) + config.epsilon);
    const int rank = p.rank() - (state.stacked.empty() ? 0 : state.stacked[i]);
    if (rank >= 2) direction = direction + p * config.weight_decay;
    update.state.parameters.push_back(p - direction * learning_rate);
    update.state.means.push_back(m);
    update.state.squares.push_back(v);
  }
  return update;
}

}  // namespace hum::train
