#include "models/llama/model.h"

#include "base/error.h"
#include "kernels/embedding/embedding.h"
#include "kernels/matmul/matmul.h"
#include "nn/projected_cross_entropy.h"

namespace hum::models::llama {

using graph::convert;
using graph::DType;

Llama::Llama(const LlamaConfig& config, nn::Storage storage)
    : config_(config), parameters_(storage) {
  const nn::Scope root(parameters_);
  const graph::Dims dims = {config.vocabulary, config.transformer.width};
  table_VW_ = root.declare("embed.weight", dims, nn::Init::normal(0.02));
  transformer_ = nn::Transformer(root, config.transformer);
  head_VW_ = config.tied ? table_VW_ : root.declare("head.weight", dims, nn::Init::normal(0.02));
}

Value Llama::embed(const Value& tokens_BT, DType compute) const {
  return convert(kernels::embedding(table_VW_, tokens_BT), compute);
}

Value Llama::head(const Value& y_BTW) const {
  return kernels::matmul(y_BTW, convert(head_VW_, y_BTW.dtype()),
                         {.transpose_rhs = true, .result = DType::kF32});
}

Value Llama::logits(const Value& tokens_BT, DType compute) const {
  return head(transformer_(embed(tokens_BT, compute)));
}

Llama::Generated Llama::generate(const Value& prompt_1P, const Value& length, const Value& count,
                                 int64_t room, DType compute) const {
  const int64_t positions = prompt_1P.size(1) + room, width = config_.transformer.width;
  const Value zero = graph::constant(0, {DType::kI32, {}});
  // Unwritten positions of the cache come after every query, so causality masks them.
  const auto start = transformer_.step(embed(prompt_1P, compute),
                                       transformer_.empty_cache(1, positions, compute), zero);
  auto likeliest = [&](const Value& y_11W) { return graph::argmax(head(y_11W), 2); };
  const Value last = graph::dynamic_slice(start.y_BTD, {zero, length - 1, zero}, {1, 1, width});
  // Carry: tokens made, whether the text has ended, the next token, all tokens, keys..., values...
  graph::Values carry = {zero, zero, likeliest(last), graph::constant(0, {DType::kI32, {1, room}})};
  const auto layers = static_cast<std::ptrdiff_t>(config_.transformer.layers);
  carry.insert(carry.end(), start.cache.keys.begin(), start.cache.keys.end());
  carry.insert(carry.end(), start.cache.values.begin(), start.cache.values.end());

  auto body = [&](std::span<const Value> in) {
    const auto caches = in.subspan(4);
    const nn::KeyValueCache cache{{caches.begin(), caches.begin() + layers},
                                  {caches.begin() + layers, caches.end()}};
    const Value& token = in[2];
    Value ended = graph::constant(0, {DType::kI32, {1, 1}});
    for (const int64_t end : config_.end_tokens) {
      ended = graph::maximum(ended, convert(equal(token, end), DType::kI32));
    }
    const auto next = transformer_.step(embed(token, compute), cache, length + in[0]);
    graph::Values out = {in[0] + 1, graph::reshape(ended, {}), likeliest(next.y_BTD),
                         graph::dynamic_update_slice(in[3], token, {zero, in[0]})};
    out.insert(out.end(), next.cache.keys.begin(), next.cache.keys.end());
    out.insert(out.end(), next.cache.values.begin(), next.cache.values.end());
    return out;
  };
  auto running = [&](std::span<const Value> in) { return (in[0] < count) & equal(in[1], 0); };
  const graph::Values done = graph::while_loop(carry, running, body);
  return {done[3], done[0]};
}

nn::Loss Llama::loss(const Value& tokens_BT, const Value& targets_BT, DType compute,
                     const nn::BlockOptions& blocks) const {
  const int64_t rows = tokens_BT.shape().elements(), width = config_.transformer.width;
  const Value y_BTW = transformer_(embed(tokens_BT, compute), {}, blocks);
  const Value each =
      nn::projected_cross_entropy(graph::reshape(y_BTW, {rows, width}), head_VW_,
                                  graph::maximum(graph::reshape(targets_BT, {rows}), 0),
                                  nn::rows_at_once(rows, config_.vocabulary));
  const Value counted = convert(targets_BT >= 0, DType::kF32);
  return {.total = nn::masked_mean(graph::reshape(each, targets_BT.dims()), counted)};
}

nn::TrainSpec Llama::train_spec(const nn::StepShape& shape) const {
  const int64_t batch = shape.batch, length = shape.frames;
  return {.name = "llama",
          .parameters = &parameters_,
          .batch = {{"tokens", {DType::kI32, {batch, length}}},
                    {"targets", {DType::kI32, {batch, length}}}},
          .loss =
              [this, compute = shape.compute](std::span<const Value> inputs,
                                              const nn::StepInputs& step) {
                return loss(inputs[0], inputs[1], compute, step.blocks);
              },
          .units_per_batch = static_cast<double>(batch * length),
          .unit = "tokens"};
}

}  // namespace hum::models::llama
