#include "kernels/decoder_step/decoder_step.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/shape_ops.h"
#include "kernels/attention/attention.h"
#include "kernels/decoder_step/decoder_step_impl.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/rotary/rotary.h"
#include "kernels/swiglu/swiglu.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::Dims;
using graph::DType;
using graph::Value;
using graph::Values;

// The call's inputs by name.
struct Unpacked {
  DecoderInputs inputs;
  std::vector<DecoderLayer> layers;
};
Unpacked unpacked(std::span<const Value> in, bool has_mask) {
  Unpacked result{{in[0], in[1], in[2]}, {}};
  if (has_mask) result.inputs.key_mask_BS = in[kDecoderHeadInputs];
  in = in.subspan(kDecoderHeadInputs + (has_mask ? 1 : 0));
  for (; !in.empty(); in = in.subspan(kDecoderLayerInputs)) {
    result.layers.push_back({in[kAttentionNorm], in[kQkv], in[kOut], in[kFeedForwardNorm],
                             in[kGateUp], in[kDown], in[kKeys], in[kValues]});
  }
  return result;
}

// Returns the layer's result, and its caches with the new position.
struct LayerResult {
  Value x, keys, values;
};
LayerResult run_layer(const Value& x, const DecoderInputs& in, const DecoderLayer& layer,
                      double epsilon) {
  const MatmulOptions weight{.transpose_rhs = true};
  const int64_t batch = x.size(0), groups = layer.keys_BSGd.size(2), d = layer.keys_BSGd.size(3);
  const int64_t members = layer.qkv.size(0) / (groups * d), queries = members - 2;
  const Value joined = matmul(rms_norm(x, layer.attention_norm_D, epsilon), layer.qkv, weight);
  const Value qkv = rotate_heads(graph::reshape(joined, {batch, 1, groups, members, d}),
                                 in.waves_12h, members - 1);
  const Value zero = graph::constant(0, {DType::kI32, {}});
  const auto updated = [&](const Value& cache, int64_t member) {
    return graph::dynamic_update_slice(cache, heads_of_groups(qkv, member, member + 1),
                                       {zero, in.position, zero, zero});
  };
  const Value keys = updated(layer.keys_BSGd, queries);
  const Value values = updated(layer.values_BSGd, queries + 1);
  const Value mixed = attention(heads_of_groups(qkv, 0, queries), keys, values,
                                {.key_mask_BS = in.key_mask_BS, .first = in.position});
  const Value attended =
      x + matmul(graph::reshape(mixed, {batch, 1, groups * queries * d}), layer.out, weight);
  const Value gate_up =
      matmul(rms_norm(attended, layer.feed_forward_norm_D, epsilon), layer.gate_up, weight);
  const Value gated = swiglu(graph::reshape(gate_up, {batch, 1, 2, layer.down.size(1)}));
  return {attended + matmul(gated, layer.down, weight), keys, values};
}

Values plain(const Unpacked& in, double epsilon) {
  Values results = {in.inputs.x_B1D};
  for (const DecoderLayer& layer : in.layers) {
    const LayerResult next = run_layer(results[0], in.inputs, layer, epsilon);
    results[0] = next.x;
    results.insert(results.end(), {next.keys, next.values});
  }
  return results;
}

using Require = std::function<void(bool ok, const std::string& what)>;

void require_inputs(const DecoderInputs& in, const graph::Shape& cache, const Require& require) {
  const Value &x = in.x_B1D, &waves = in.waves_12h;
  require(x.rank() == 3 && x.size(1) == 1 && graph::is_float(x.dtype()),
          fmt::format("x is {}, not [B,1,D] of floats", x.shape()));
  require(cache.rank() == 4 && cache.dims[0] == x.size(0) && cache.dtype == x.dtype(),
          fmt::format("the caches are {}, x is {}", cache, x.shape()));
  require(waves.rank() == 3 && waves.dtype() == DType::kF32 && waves.size(0) == 1 &&
              waves.size(1) == 2 && 2 * waves.size(2) <= cache.dims[3],
          fmt::format("the waves are {}, not f32[1,2,h] with 2 h <= d", waves.shape()));
  require(in.position.shape() == graph::Shape{DType::kI32, {}}, "the position is not an i32");
  const graph::Shape mask{DType::kF32, {cache.dims[0], cache.dims[1]}};
  require(!in.key_mask_BS || in.key_mask_BS.shape() == mask, "the key mask is not f32[B,S]");
}

// `first`: the first layer, which decides the sizes.
void require_layer(const DecoderLayer& l, const DecoderLayer& first, const Value& x,
                   const Require& require) {
  const graph::Shape& cache = first.keys_BSGd.shape();
  const int64_t width = x.size(2), feed_forward = first.down.size(-1);
  const int64_t queries = first.out.size(-1), group_width = cache.dims[2] * cache.dims[3];
  const graph::Shape scale{DType::kF32, {width}};
  const auto matrix = [&](int64_t rows, int64_t columns) {
    return graph::Shape{x.dtype(), {rows, columns}};
  };
  const bool fits = queries > 0 && queries % group_width == 0 &&
                    l.attention_norm_D.shape() == scale && l.feed_forward_norm_D.shape() == scale &&
                    l.qkv.shape() == matrix(queries + 2 * group_width, width) &&
                    l.out.shape() == matrix(width, queries) &&
                    l.gate_up.shape() == matrix(2 * feed_forward, width) &&
                    l.down.shape() == matrix(width, feed_forward) && l.keys_BSGd.shape() == cache &&
                    l.values_BSGd.shape() == cache;
  require(fits,
          fmt::format("a layer's shapes differ or do not fit x {} and caches {}: norms {} and {}, "
                      "qkv {}, out {}, gate_up {}, down {}",
                      x.shape(), cache, l.attention_norm_D.shape(), l.feed_forward_norm_D.shape(),
                      l.qkv.shape(), l.out.shape(), l.gate_up.shape(), l.down.shape()));
}

}  // namespace

DecoderStep decoder_step(const DecoderInputs& inputs, std::span<const DecoderLayer> layers,
                         double epsilon, std::source_location where) {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) fail(ExitCode::kFailure, fmt::format("decoder_step: {}", what), "", where);
  };
  require(!layers.empty(), "there are no layers");
  require_inputs(inputs, layers[0].keys_BSGd.shape(), require);
  for (const DecoderLayer& l : layers) require_layer(l, layers[0], inputs.x_B1D, require);
  const bool has_mask = static_cast<bool>(inputs.key_mask_BS);
  Values all = {inputs.x_B1D, inputs.waves_12h, inputs.position};
  if (has_mask) all.push_back(inputs.key_mask_BS);
  std::vector<std::pair<int, int>> aliases;
  int result = 1;
  for (const DecoderLayer& l : layers) {
    const auto at = static_cast<int>(all.size());
    for (const int cache : {kKeys, kValues}) aliases.emplace_back(result++, at + cache);
    all.insert(all.end(), {l.attention_norm_D, l.qkv, l.out, l.feed_forward_norm_D, l.gate_up,
                           l.down, l.keys_BSGd, l.values_BSGd});
  }
  graph::Attributes settings;
  settings.set("epsilon", epsilon);
  settings.set("has_mask", has_mask);
  const Values results = graph::custom_call(
      kDecoderStepKernel.call.name, all, settings,
      [&](std::span<const Value> in) { return plain(unpacked(in, has_mask), epsilon); },
      {.output_operand_aliases = aliases}, where);
  DecoderStep step{results[0], {}, {}};
  for (size_t i = 1; i < results.size(); i += 2) {
    step.keys_BSGd.push_back(results[i]);
    step.values_BSGd.push_back(results[i + 1]);
  }
  return step;
}

}  // namespace hum::kernels
