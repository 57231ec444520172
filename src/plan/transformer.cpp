#include "plan/transformer.h"

#include "base/error.h"
#include "plan/layout.h"

namespace hum::plan {

namespace {

double product_parameters(const Transformer& model) {
  const double h = static_cast<double>(model.hidden);
  const double kv = static_cast<double>(model.key_value_heads() * model.head_width());
  return h * (h + 2 * kv) + h * h +
         (model.gated ? 3 : 2) * h * static_cast<double>(model.ffn_width());
}

}  // namespace

double Transformer::block_parameters() const {
  const double h = static_cast<double>(hidden);
  // GPT: biases of four products and two layer norms; Llama: two RMS norms.
  const double rest = gated ? 2 * h : 9 * h + static_cast<double>(ffn_width());
  return product_parameters(*this) + rest;
}

double Transformer::parameters() const {
  const double h = static_cast<double>(hidden), v = static_cast<double>(vocab);
  const double positions = learned_positions && !gated ? static_cast<double>(sequence) * h : 0;
  return static_cast<double>(layers) * block_parameters() + (tied_embeddings ? 1 : 2) * v * h +
         positions + (gated ? 1 : 2) * h;
}

double Transformer::flops_per_sequence() const {
  const double h = static_cast<double>(hidden), s = static_cast<double>(sequence);
  const double products =
      static_cast<double>(layers) * product_parameters(*this) + h * static_cast<double>(vocab);
  return 6 * s * products + 12 * static_cast<double>(layers) * s * s * h;
}

void validate(const Transformer& model) {
  const auto positive = [](const char* what, int64_t value) {
    if (value > 0) return;
    fail(ExitCode::kBadData, fmt::format("a model with {} = {}", what, value),
         fmt::format("{} must be positive", what));
  };
  positive("hidden", model.hidden);
  positive("layers", model.layers);
  positive("heads", model.heads);
  positive("vocab", model.vocab);
  positive("seq", model.sequence);
  if (model.hidden % model.heads != 0) {
    fail(ExitCode::kBadData,
         fmt::format("{} heads do not divide the width {}", model.heads, model.hidden),
         fmt::format("the nearest number that does is {}",
                     nearest_divisor(model.hidden, model.heads)));
  }
  if (model.heads % model.key_value_heads() != 0) {
    fail(ExitCode::kBadData,
         fmt::format("{} key-value heads do not divide {} heads", model.key_value_heads(),
                     model.heads),
         fmt::format("the nearest number that does is {}",
                     nearest_divisor(model.heads, model.key_value_heads())));
  }
}

}  // namespace hum::plan
