#include "models/humming/upsampler.h"

#include "base/error.h"
#include "nn/waveform.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

constexpr size_t kBlocksPerAttention = 2;

// 1 - cosine similarity along the last dim, averaged.
Value cosine_distance(const Value& a, const Value& b) {
  auto length = [](const Value& x) { return graph::sqrt(graph::reduce_sum(x * x, {-1}) + 1e-6); };
  return graph::mean_all(1 - graph::reduce_sum(a * b, {-1}) / (length(a) * length(b)));
}

// 1 - squared errors / squared deviations from the mean, over the items with mask 1; 0 if there are
// none. Shapes: predicted and true [B,T,D], mask f32[B] -> scalar.
Value explained_variance(const Value& predicted_BTD, const Value& true_BTD, const Value& mask_B) {
  const Value mask = graph::reshape(mask_B, {mask_B.size(0), 1, 1});
  const Value frames = graph::maximum(graph::sum_all(mask_B) * true_BTD.size(1), 1);
  const Value mean = graph::reduce_sum(true_BTD * mask, {0, 1}, /*keepdims=*/true) / frames;
  const auto squares = [&](const Value& x) { return graph::sum_all(x * x * mask); };
  const Value total = squares(true_BTD - mean);
  return (total - squares(predicted_BTD - true_BTD)) / graph::maximum(total, 1e-6);
}

// Shapes: i32[B,T,K] -> i32[B,T].
Value one_book(const Value& codes_BTK, int64_t book) {
  return graph::reshape(graph::slice_in_dim(codes_BTK, 2, book, book + 1),
                        {codes_BTK.size(0), codes_BTK.size(1)});
}

}  // namespace

Upsampler::Upsampler(const UpsamplerConfig& config, Trains trains)
    : config_(config), trains_(trains) {
  const auto& common = config.common;
  const nn::Scope root(parameters_);
  codebooks_KED_ = root.declare_buffer("codebooks", {common.books, common.entries, common.latent},
                                       nn::Init::zeros());
  stage_table_ = root.declare("stage", {common.books, config.width}, nn::Init::normal(0.02));
  in_ = nn::Linear(root.child("in"), common.latent + common.melody_features, config.width);
  condition_ = nn::Linear(root.child("condition"), 2 * common.latent, config.width);
  condition_out_ = nn::Linear(root.child("condition_out"), config.width, config.width);
  blocks_ = nn::convnext_stack(
      root, config.blocks,
      {.width = config.width, .hidden = 3 * config.width, .condition = config.width});
  if (attends()) {
    encoder_ = TimbreEncoder(root.child("timbre"), common, config.width);
    for (size_t block = 0; block < blocks_.size(); block += kBlocksPerAttention) {
      attentions_.emplace_back(root.child("attention", static_cast<int64_t>(block)), config.width);
    }
  }
  norm_ = nn::Norm(root.child("norm"), nn::NormKind::kLayer, config.width);
  regression_ = nn::Linear(root.child("regression"), config.width, common.latent);
  for (int64_t book = 1; book < config.classified_books; ++book) {
    heads_.emplace_back(root.child("heads", book), config.width, common.entries);
  }
}

Upsampler::Timbre Upsampler::timbre(const Reference& reference, DType compute,
                                    const nn::BlockOptions& blocks) const {
  Timbre result{.pooled_BR = pooled_reference(reference.latents_BSD, reference.frames_B)};
  if (!attends()) return result;
  const int64_t batch = reference.latents_BSD.size(0), frames = reference.latents_BSD.size(1);
  result.mask_BS = graph::reshape(frame_mask(reference.frames_B, frames), {batch, frames});
  const Value encoded = encoder_(reference, compute, blocks);
  for (const TimbreAttention& attention : attentions_) {
    result.keys.push_back(attention.keys(encoded));
  }
  return result;
}

Upsampler::Prediction Upsampler::predict(const Value& known_BTD, const Value& melody_BTM,
                                         const Timbre& timbre, const Value& stage_B,
                                         const nn::BlockOptions& blocks) const {
  const DType compute = known_BTD.dtype();
  const Value stage_BW = convert(graph::take(stage_table_, stage_B), compute);
  Value condition_BW = condition_(convert(timbre.pooled_BR, compute)) + stage_BW;
  condition_BW = condition_out_(graph::gelu_new(condition_BW));
  Value x = in_(graph::concatenate({known_BTD, convert(melody_BTM, compute)}, 2));
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const auto run = [&](const Value& in) {
      const size_t attention = i / kBlocksPerAttention;
      const bool reads = attends() && i % kBlocksPerAttention == 0;
      return blocks_[i](
          reads ? attentions_[attention](in, timbre.keys[attention], timbre.mask_BS) : in,
          condition_BW);
    };
    x = nn::run_block(blocks, static_cast<int64_t>(i), x, run);
  }
  x = norm_(x);
  return {convert(regression_(x), DType::kF32), x};
}

Value Upsampler::logits(int64_t book, const Value& hidden_BTW) const {
  HUM_REQUIRE(book >= 1 && book < config_.classified_books, "upsampler: no head for book {}", book);
  return convert(heads_[static_cast<size_t>(book - 1)](hidden_BTW), DType::kF32);
}

Value Upsampler::lookup(int64_t book, const Value& codes_BT) const {
  const auto& common = config_.common;
  const Value table = graph::reshape(graph::slice_in_dim(codebooks_KED_, 0, book, book + 1),
                                     {common.entries, common.latent});
  return graph::take(table, codes_BT);
}

Value Upsampler::known(const Value& codes_BTK, const Value& stage_B) const {
  Value sum;
  for (int64_t book = 0; book < config_.classified_books; ++book) {
    const Value here = graph::reshape(convert(stage_B > static_cast<double>(book), DType::kF32),
                                      {stage_B.size(0), 1, 1});
    const Value vectors = lookup(book, one_book(codes_BTK, book)) * here;
    sum = sum ? sum + vectors : vectors;
  }
  return sum;
}

Value Upsampler::decode(const Value& codes_BTK, int64_t books) const {
  Value sum;
  for (int64_t book = 0; book < books; ++book) {
    const Value vectors = lookup(book, one_book(codes_BTK, book));
    sum = sum ? sum + vectors : vectors;
  }
  return sum;
}

Value Upsampler::drawn_stages(int64_t batch, const Value& key) const {
  if (trains_ == Trains::kDraft) return graph::constant(0, {DType::kI32, {batch}});
  // Each item trains one stage of 0 (draft) .. classified_books; stage 0 twice as often.
  const auto stages = static_cast<double>(config_.classified_books + 2);
  const Value draw_B = graph::uniform({DType::kF32, {batch}}, key) * stages - 1;
  return convert(graph::floor(graph::maximum(draw_B, 0)), DType::kI32);
}

nn::Loss Upsampler::loss(std::span<const Value> inputs, const nn::StepInputs& step,
                         DType compute) const {
  const Value &codes_BTK = inputs[0], &latents_BTD = inputs[1], &melody_BTM = inputs[2];
  const Reference reference{inputs[3], inputs[4], attends() ? inputs[5] : Value{}};
  const int64_t batch = codes_BTK.size(0);
  const Timbre from_reference = timbre(reference, compute, step.blocks);

  const Value stage_B = drawn_stages(batch, step.key);
  const Value known_BTD = convert(graph::stop_gradient(known(codes_BTK, stage_B)), compute);
  const auto predicted = predict(known_BTD, melody_BTM, from_reference, stage_B, step.blocks);

  const Value l1 = graph::mean_all(graph::abs(predicted.latents_BTD - latents_BTD));
  const Value angle = cosine_distance(predicted.latents_BTD, latents_BTD);
  const Value explained = explained_variance(predicted.latents_BTD, latents_BTD,
                                             convert(equal(stage_B, 0), DType::kF32));
  nn::Loss result{.total = l1 + angle,
                  .metrics = {{"l1", l1}, {"angle", angle}, {"draft_explained", explained}}};
  if (trains_ == Trains::kDraft) return result;
  for (int64_t book = 1; book < config_.classified_books; ++book) {
    const Value losses_BT =
        graph::softmax_cross_entropy(logits(book, predicted.hidden_BTW), one_book(codes_BTK, book));
    const Value here = graph::reshape(convert(equal(stage_B, book), DType::kF32), {batch, 1});
    const Value mean = nn::masked_mean(losses_BT, here);
    result.total = result.total + mean * 0.1;
    result.metrics.emplace_back("ce" + std::to_string(book + 1), mean);
  }
  return result;
}

nn::TrainSpec Upsampler::train_spec(const nn::StepShape& shape) const {
  const auto& common = config_.common;
  const int64_t batch = shape.batch, frames = shape.frames;
  nn::TrainSpec spec{
      .name = trains_ == Trains::kDraft ? "predictor" : "upsampler",
      .parameters = &parameters_,
      .batch = {{"codes", {DType::kI32, {batch, frames, common.books}}},
                {"latents", {DType::kF32, {batch, frames, common.latent}}},
                {"melody", {DType::kF32, {batch, frames, common.melody_features}}},
                {"reference", {DType::kF32, {batch, shape.reference_frames, common.latent}}},
                {"reference_frames", {DType::kI32, {batch}}}},
      .loss = [this, compute = shape.compute](
                  std::span<const Value> inputs,
                  const nn::StepInputs& step) { return loss(inputs, step, compute); },
      .units_per_batch = static_cast<double>(batch * frames) / 50,
      .unit = "audio s"};
  if (attends()) {
    spec.batch.push_back({"reference_melody",
                          {DType::kF32, {batch, shape.reference_frames, common.melody_features}}});
  }
  return spec;
}

}  // namespace hum::models::humming
