#include "bench/lm/model.h"

#include "kernels/matmul/matmul.h"

namespace hum::bench {

using graph::convert;
using graph::DType;
using graph::Value;

Lm::Lm(const LmSize& size) : size_(size) {
  const nn::Scope root(parameters_);
  table_VD_ = root.child("embed").declare("weight", {size.vocabulary, size.transformer.width},
                                          nn::Init::normal(0.02));
  transformer_ = nn::Transformer(root, size.transformer);
}

nn::Loss Lm::loss(const Value& tokens_BT1, DType compute, const nn::BlockOptions& blocks) const {
  const int64_t length = size_.length;
  const Value input_BT = graph::slice_in_dim(tokens_BT1, 1, 0, length);
  const Value target_BT = graph::slice_in_dim(tokens_BT1, 1, 1, length + 1);
  const Value x_BTD = convert(graph::take(table_VD_, input_BT), compute);
  const Value y_BTD = transformer_(x_BTD, {}, blocks);
  const Value logits = kernels::matmul(y_BTD, convert(table_VD_, compute), {.transpose_rhs = true});
  const Value each = graph::softmax_cross_entropy(logits, target_BT);
  return {.total = graph::mean(each, {0, 1})};
}

nn::TrainSpec Lm::train_spec(DType compute) const {
  return {.name = "lm",
          .parameters = &parameters_,
          .batch = {{"tokens", {DType::kI32, {size_.batch, size_.length + 1}}}},
          .loss = [this, compute](
                      std::span<const Value> batch,
                      const nn::StepInputs& step) { return loss(batch[0], compute, step.blocks); },
          .units_per_batch = static_cast<double>(size_.batch * size_.length),
          .unit = "tokens"};
}

}  // namespace hum::bench
