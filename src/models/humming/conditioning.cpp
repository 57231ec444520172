#include "models/humming/conditioning.h"

#include "base/error.h"
#include "models/humming/timbre_encoder.h"
#include "nn/layers.h"
#include "nn/waveform.h"

namespace hum::models::humming {
namespace {

using graph::convert;
using graph::DType;

// One flag per item, to multiply values of `rank` dims with.
Value per_item(const Value& flag_B, int rank, DType compute) {
  graph::Dims dims(static_cast<size_t>(rank), 1);
  dims[0] = flag_B.size(0);
  return graph::reshape(convert(flag_B, compute), dims);
}

Value ones(int64_t batch, int64_t count) {
  return graph::constant(1, {DType::kF32, {batch, count}});
}

// 1 for complete groups of reference frames of items with a timbre. Shapes: -> f32[B,S/group].
Value present_groups(const Conditions& c, int64_t group) {
  const int64_t batch = c.reference_BSD.size(0), groups = c.reference_BSD.size(1) / group;
  const Value last = graph::iota({DType::kI32, {batch, groups}}, 1) * group + (group - 1);
  const Value there = convert(last < graph::reshape(c.reference_frames_B, {batch, 1}), DType::kF32);
  return there * graph::reshape(c.has_timbre_B, {batch, 1});
}

class Aligned final : public Conditioning {
 public:
  Aligned(const nn::Scope& scope, const CoarseConfig& config);
  bool uses_draft() const override { return true; }
  ConditionedSteps apply(const Conditions& c, DType compute,
                         const nn::BlockOptions& blocks) const override;

 private:
  Value melody_steps(const Conditions& c, DType compute, const nn::BlockOptions& blocks) const;
  Value prefix(const Value& reference_BSD, DType compute) const;

  CoarseConfig config_;
  Value no_melody_W_;
  nn::Linear melody_in_, melody_out_, prefix_in_, condition_;
  std::vector<nn::ConvNextBlock> melody_blocks_;
};

Aligned::Aligned(const nn::Scope& scope, const CoarseConfig& config) : config_(config) {
  const auto& common = config.common;
  const int64_t width = config.transformer.width;
  no_melody_W_ = scope.declare("no_melody", {width}, nn::Init::normal(0.02));
  melody_in_ = nn::Linear(scope.child("melody_in"), common.melody_features + common.latent,
                          config.melody_width);
  melody_blocks_ = nn::convnext_stack(scope.child("melody"), config.melody_blocks,
                                      {.width = config.melody_width,
                                       .hidden = 3 * config.melody_width,
                                       .condition = config.melody_width});
  melody_out_ = nn::Linear(scope.child("melody_out"), config.melody_width, width, {.hidden = true});
  condition_ = nn::Linear(scope.child("timbre"), 2 * common.latent, config.melody_width);
  prefix_in_ = nn::Linear(scope.child("prefix_in"), common.latent, width);
}

Value Aligned::melody_steps(const Conditions& c, DType compute,
                            const nn::BlockOptions& blocks) const {
  const int64_t batch = c.melody_BTM.size(0), frames = c.melody_BTM.size(1);
  const Value reference_BR =
      convert(pooled_reference(c.reference_BSD, c.reference_frames_B), compute) *
      per_item(c.has_timbre_B, 2, compute);
  const Value condition_BC = condition_(reference_BR);
  const Value draft_BTD = config_.draft_follows_timbre
                              ? c.draft_BTD * per_item(c.has_timbre_B, 3, DType::kF32)
                              : c.draft_BTD;
  const Value in = melody_in_(convert(graph::concatenate({c.melody_BTM, draft_BTD}, 2), compute));
  const Value x = nn::run_blocks(blocks, melody_blocks_, in, condition_BC);
  const Value has_melody = per_item(c.has_melody_B, 3, compute);
  const Value steps =
      melody_out_(x) * has_melody + convert(no_melody_W_, compute) * (1 - has_melody);
  const int64_t extra = config_.coarse_books - 1;
  if (extra == 0) return steps;
  const Value last = graph::slice_in_dim(steps, 1, frames - 1, frames);
  return graph::concatenate({steps, graph::broadcast_to(last, {batch, extra, steps.size(2)})}, 1);
}

Value Aligned::prefix(const Value& reference_BSD, DType compute) const {
  const int64_t batch = reference_BSD.size(0), group = config_.prefix_group;
  const int64_t groups = reference_BSD.size(1) / group;
  const Value grouped = graph::reshape(graph::slice_in_dim(reference_BSD, 1, 0, groups * group),
                                       {batch, groups, group, config_.common.latent});
  return prefix_in_(convert(graph::mean(grouped, {2}), compute));
}

ConditionedSteps Aligned::apply(const Conditions& c, DType compute,
                                const nn::BlockOptions& blocks) const {
  const Value steps = melody_steps(c, compute, blocks);
  return {steps, prefix(c.reference_BSD, compute),
          graph::concatenate(
              {present_groups(c, config_.prefix_group), ones(steps.size(0), steps.size(1))}, 1)};
}

// Melody tokens: the nearest semitone of each frame (or silence), and whether a note begins in it.
class Prefix final : public Conditioning {
 public:
  Prefix(const nn::Scope& scope, const CoarseConfig& config);
  bool uses_draft() const override { return false; }
  ConditionedSteps apply(const Conditions& c, DType compute,
                         const nn::BlockOptions& blocks) const override;

 private:
  static constexpr int64_t kSilence = 128;  // after MIDI's pitches

  Value embed(const Value& melody_BTM, DType compute) const;

  int64_t extra_steps_;
  Value pitches_EW_, onsets_EW_;
  nn::Linear prompt_in_;
};

Prefix::Prefix(const nn::Scope& scope, const CoarseConfig& config)
    : extra_steps_(config.coarse_books - 1) {
  HUM_REQUIRE(config.common.melody_features > kMelodyOnset,
              "coarse: {} melody features have no onsets, which the prefix needs",
              config.common.melody_features);
  const int64_t width = config.transformer.width;
  const auto table = [&](const char* name, int64_t entries) {
    return scope.child(name).declare("weight", {entries, width}, nn::Init::normal(0.02));
  };
  pitches_EW_ = table("pitch", kSilence + 1);
  onsets_EW_ = table("onset", 2);
  prompt_in_ = nn::Linear(scope.child("prompt_in"), config.common.latent, width);
}

Value Prefix::embed(const Value& melody_BTM, DType compute) const {
  const auto column = [&](int64_t index) {
    return graph::reshape(graph::slice_in_dim(melody_BTM, 2, index, index + 1),
                          {melody_BTM.size(0), melody_BTM.size(1)});
  };
  const Value midi = graph::round_nearest_even(column(kMelodyPitch) * 32 + 64);
  const Value pitch = convert(graph::minimum(graph::maximum(midi, 0), kSilence - 1), DType::kI32);
  const Value tokens = graph::select(column(kMelodySounding) > 0.5, pitch, kSilence);
  const Value onsets = convert(column(kMelodyOnset) > 0.5, DType::kI32);
  return convert(graph::take(pitches_EW_, tokens) + graph::take(onsets_EW_, onsets), compute);
}

ConditionedSteps Prefix::apply(const Conditions& c, DType compute, const nn::BlockOptions&) const {
  const Value melody = embed(c.melody_BTM, compute);
  const Value prompt = prompt_in_(convert(c.reference_BSD, compute));
  const int64_t batch = melody.size(0), frames = melody.size(1), steps = frames + extra_steps_;
  const Value melody_mask =
      graph::broadcast_to(graph::reshape(c.has_melody_B, {batch, 1}), {batch, frames});
  return {graph::constant(0, {compute, {batch, steps, melody.size(2)}}),
          graph::concatenate({melody, prompt}, 1),
          graph::concatenate({melody_mask, present_groups(c, 1), ones(batch, steps)}, 1)};
}

}  // namespace

std::unique_ptr<Conditioning> make_conditioning(const nn::Scope& scope,
                                                const CoarseConfig& config) {
  if (config.conditioning == ConditioningKind::kPrefix) {
    return std::make_unique<Prefix>(scope, config);
  }
  return std::make_unique<Aligned>(scope, config);
}

}  // namespace hum::models::humming
