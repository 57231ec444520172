#include "models/humming/coarse.h"

#include "base/error.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

Coarse::Coarse(const CoarseConfig& config) : config_(config) {
  HUM_REQUIRE(config.coarse_books >= 1 && config.coarse_books <= config.common.books,
              "coarse: {} coarse books of {}", config.coarse_books, config.common.books);
  HUM_REQUIRE(config.vocabulary > config.common.entries,
              "coarse: vocabulary {} has no room for {} entries and a start token",
              config.vocabulary, config.common.entries);
  const nn::Scope root(parameters_);
  const int64_t width = config.transformer.width;
  // Larger than the melody and timbre terms, about 1, which would otherwise mask the past tokens.
  for (int64_t k = 0; k < config.coarse_books; ++k) {
    tables_.push_back(root.child("embed", k)
                          .declare("weight", {config.vocabulary, width}, nn::Init::normal(1.5)));
  }
  transformer_ = nn::Transformer(root, config.transformer);
  for (int64_t k = 0; k < config.coarse_books; ++k) {
    heads_.emplace_back(root.child("heads", k), width, config.vocabulary,
                        nn::Linear::Options{.bias = false, .init = 0.02});
  }
  core_parameters_ = parameters_.element_count();

  const auto& common = config.common;
  codebooks_KED_ = root.declare_buffer("codebooks", {common.books, common.entries, common.latent},
                                       nn::Init::zeros());
  conditioning_ = make_conditioning(root.child("conditions"), config);
}

Value Coarse::delayed(const Value& codes_BTK) const {
  const int64_t start = config_.vocabulary - 1, last = config_.coarse_books - 1;
  graph::Values books;
  for (int64_t k = 0; k <= last; ++k) {
    const Value book = graph::slice_in_dim(codes_BTK, 2, k, k + 1);
    books.push_back(graph::pad_in_dim(book, static_cast<double>(start), 1, k, last - k));
  }
  return graph::concatenate(books, 2);
}

Value Coarse::embed(const Value& tokens_BLK, DType compute) const {
  Value sum;
  for (int64_t k = 0; k < config_.coarse_books; ++k) {
    const Value tokens = graph::reshape(graph::slice_in_dim(tokens_BLK, 2, k, k + 1),
                                        {tokens_BLK.size(0), tokens_BLK.size(1)});
    const Value rows = convert(graph::take(tables_[static_cast<size_t>(k)], tokens), compute);
    sum = sum ? sum + rows : rows;
  }
  return sum;
}

graph::Values Coarse::heads(const Value& y_BLW) const {
  graph::Values logits;
  for (const auto& head : heads_) logits.push_back(convert(head(y_BLW), DType::kF32));
  return logits;
}

graph::Values Coarse::logits(const Value& codes_BTK, const Conditions& conditions, DType compute,
                             const nn::BlockOptions& blocks) const {
  const ConditionedSteps conditioned = conditioning_->apply(conditions, compute, blocks);
  const Value tokens = delayed(codes_BTK);
  // Step t sees the tokens of step t - 1; the first step sees start tokens.
  const Value before =
      graph::pad_in_dim(tokens, static_cast<double>(config_.vocabulary - 1), 1, 1, -1);
  const Value steps = embed(before, compute) + conditioned.steps_BLW;
  const Value y = transformer_(graph::concatenate({conditioned.prefix_BPW, steps}, 1),
                               conditioned.key_mask_BX, blocks);
  const int64_t prefix = conditioned.prefix_BPW.size(1);
  return heads(graph::slice_in_dim(y, 1, prefix, y.size(1)));
}

nn::Loss Coarse::loss(std::span<const Value> inputs, const nn::StepInputs& step,
                      DType compute) const {
  const Value &codes_BTK = inputs[0], &melody_BTM = inputs[1];
  const int64_t batch = codes_BTK.size(0);
  const double dropout = step.is_training ? config_.condition_dropout : 0;
  auto kept = [&](int64_t stream) {
    const Value draw = graph::uniform({DType::kF32, {batch}}, graph::fold_in(step.key, stream));
    return convert(draw >= dropout, DType::kF32);
  };
  const graph::Values all_logits = logits(codes_BTK,
                                          {.melody_BTM = melody_BTM,
                                           .reference_BSD = inputs[2],
                                           .reference_frames_B = inputs[3],
                                           .has_melody_B = kept(1),
                                           .has_timbre_B = kept(2),
                                           .draft_BTD = uses_draft() ? inputs[4] : Value{}},
                                          compute, step.blocks);
  const Value targets = delayed(codes_BTK);
  nn::Loss result;
  for (int64_t k = 0; k < config_.coarse_books; ++k) {
    const Value& logits_BLV = all_logits[static_cast<size_t>(k)];
    const Value target_BL =
        graph::reshape(graph::slice_in_dim(targets, 2, k, k + 1), {batch, targets.size(1)});
    const Value real = convert(target_BL < config_.common.entries, DType::kF32);
    const Value safe = graph::minimum(target_BL, config_.common.entries - 1);
    const Value ce = nn::masked_mean(graph::softmax_cross_entropy(logits_BLV, safe), real);
    const Value hit = equal(graph::argmax(logits_BLV, 2), target_BL);
    const Value accuracy = nn::masked_mean(convert(hit, DType::kF32), real);

    // Reconstruction: compares the expected code vector under the probabilities with the true one.
    const Value table = graph::reshape(graph::slice_in_dim(codebooks_KED_, 0, k, k + 1),
                                       {config_.common.entries, config_.common.latent});
    const Value probabilities =
        graph::softmax(graph::slice_in_dim(logits_BLV, 2, 0, config_.common.entries), 2);
    const Value expected = graph::matmul(probabilities, table);
    const Value distance = graph::mean(graph::abs(expected - graph::take(table, safe)), {2});
    const Value reconstruction = nn::masked_mean(distance, real);

    const Value term = ce + reconstruction * config_.reconstruction_weight;
    result.total = result.total ? result.total + term : term;
    const std::string book = std::to_string(k + 1);
    result.metrics.emplace_back("ce" + book, ce);
    result.metrics.emplace_back("accuracy" + book, accuracy);
    result.metrics.emplace_back("reconstruction" + book, reconstruction);
  }
  return result;
}

nn::TrainSpec Coarse::train_spec(const nn::StepShape& shape) const {
  const auto& common = config_.common;
  const int64_t batch = shape.batch, frames = shape.frames;
  std::vector<nn::Field> fields = {
      {"codes", {DType::kI32, {batch, frames, common.books}}},
      {"melody", {DType::kF32, {batch, frames, common.melody_features}}},
      {"reference", {DType::kF32, {batch, shape.reference_frames, common.latent}}},
      {"reference_frames", {DType::kI32, {batch}}}};
  if (uses_draft()) fields.push_back({"draft", {DType::kF32, {batch, frames, common.latent}}});
  return {.name = "coarse",
          .parameters = &parameters_,
          .batch = fields,
          .loss = [this, compute = shape.compute](
                      std::span<const Value> inputs,
                      const nn::StepInputs& step) { return loss(inputs, step, compute); },
          .units_per_batch = static_cast<double>(batch * frames),
          .unit = "tokens"};
}

}  // namespace hum::models::humming
