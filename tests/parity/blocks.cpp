#include "tests/parity/blocks.h"

#include <algorithm>
#include <ostream>

#include "graph/ops.h"
#include "models/codec/dac_layers.h"
#include "models/codec/quantizer.h"
#include "nn/transformer.h"

namespace hum::parity {
namespace {

using graph::Value;
using graph::Values;
using In = std::span<const Value>;

// Grouped queries, rotary positions, root-mean-square norm, gated feed-forward; a mask.
Values swiglu_transformer(const nn::Scope& scope, In in) {
  const nn::TransformerConfig config{
      .layers = 1, .width = 16, .heads = 4, .kv_heads = 2, .feed_forward = 24};
  return {nn::Transformer(scope, config)(in[0], in[1])};
}

// Layer norm, GELU, biases, half of each head rotated.
Values gelu_transformer(const nn::Scope& scope, In in) {
  const nn::TransformerConfig config{.layers = 1,
                                     .width = 8,
                                     .heads = 2,
                                     .kv_heads = 2,
                                     .feed_forward = 12,
                                     .norm = nn::NormKind::kLayer,
                                     .activation = nn::Activation::kGeluNew,
                                     .bias = true,
                                     .rotary_dim = 2};
  return {nn::Transformer(scope, config)(in[0], in[1])};
}

Values convnext(const nn::Scope& scope, In in) {
  const nn::ConvNextBlock block(scope, {.width = 6, .hidden = 10, .condition = 3});
  return {block(in[0], in[1])};
}

// Straight through three books of the 8-d cosine form, some items with fewer books.
Values codec_quantizer(const nn::Scope& scope, In in) {
  using namespace models::codec;
  const ResidualQuantizer quantizer(scope,
                                    {.kind = QuantizerKind::kCosine,
                                     .books = 3,
                                     .entries = 16,
                                     .cosine_dim = 4,
                                     .warm_up_steps = 0},
                                    in[0].size(2));
  const Value step = graph::constant(0, {graph::DType::kI32, {}});
  const nn::StepInputs inputs = {.step = step, .key = in[1]};
  const auto training = quantizer.train(in[0], kept_books(in[0].size(0), 3, 3, inputs), inputs);
  return {training.latents_BTD, training.loss};
}

Values dac_residual_unit(const nn::Scope& scope, In in) {
  using namespace models::codec;
  const DacResidualUnit unit(scope, DacWeights::kWeightNorm, in[0].size(2), /*dilation=*/3);
  return {unit(in[0], DacEdges::kPadded)};
}

constexpr Block kBlocks[] = {{"transformer, swiglu", swiglu_transformer},
                             {"transformer, gelu", gelu_transformer},
                             {"convnext", convnext},
                             {"codec quantizer", codec_quantizer},
                             {"dac residual unit", dac_residual_unit}};

}  // namespace

std::span<const Block> blocks() { return kBlocks; }

std::string test_name(const Block& block) {
  std::string name = block.golden;
  std::erase(name, ',');
  std::ranges::replace(name, ' ', '_');
  return name;
}

void PrintTo(const Block& block, std::ostream* out) { *out << block.golden; }

}  // namespace hum::parity
