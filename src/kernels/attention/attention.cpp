#include "kernels/attention/attention.h"

#include <cmath>

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

struct Settings {
  double scale;
  bool causal;
  int64_t window;
  bool has_mask, has_first;
  bool joined;  // queries, keys and values in one tensor

  size_t tensors() const { return joined ? 1 : 3; }
};

struct Tensors {
  Value q, k, v;
};
Tensors tensors_of(std::span<const Value> inputs, const Settings& s) {
  if (!s.joined) return {inputs[0], inputs[1], inputs[2]};
  const Value& all = inputs[0];
  const int64_t members = all.size(3) - 2;
  return {heads_of_groups(all, 0, members), heads_of_groups(all, members, members + 1),
          heads_of_groups(all, members + 1, members + 2)};
}

// The optional inputs, which come last.
struct Extras {
  Value mask_BS, first;
};
Extras extras_of(std::span<const Value> inputs, const Settings& s) {
  Extras extras;
  size_t next = inputs.size();
  if (s.has_first) extras.first = inputs[--next];
  if (s.has_mask) extras.mask_BS = inputs[--next];
  return extras;
}

// f32 1 where a query sees a key. Shapes: -> [B or 1, 1, T, 1, S].
Value visible(const Value& q, const Value& k, const Settings& s, const Extras& extras) {
  const int64_t queries = q.size(1), keys = k.size(1);
  Value seen = graph::constant(1, {DType::kF32, {1, 1, queries, 1, keys}});
  if (s.causal) {
    const graph::Shape grid{DType::kI32, {queries, keys}};
    const Value own = graph::iota(grid, 0) + (extras.first ? graph::Operand(extras.first)
                                                           : graph::Operand(keys - queries));
    const Value key = graph::iota(grid, 1);
    Value allowed = graph::convert(key <= own, DType::kF32);
    if (s.window > 0) allowed = allowed * graph::convert(key > own - s.window, DType::kF32);
    seen = seen * graph::reshape(allowed, {1, 1, queries, 1, keys});
  }
  if (!extras.mask_BS) return seen;
  const Value present = graph::convert(extras.mask_BS > 0, DType::kF32);
  return seen * graph::reshape(present, {k.size(0), 1, 1, 1, keys});
}

Values plain(std::span<const Value> inputs, const Settings& s) {
  const auto [q, k, v] = tensors_of(inputs, s);
  const Extras extras = extras_of(inputs, s);
  constexpr double kUnseen = -1e30, kNothing = 1e-30;
  const int64_t batch = q.size(0), queries = q.size(1), heads = q.size(2), d = q.size(3);
  const int64_t groups = k.size(2);
  const Value q_BTGRd = graph::reshape(q, {batch, queries, groups, heads / groups, d});
  // [B, G, T, R, S]
  const Value scores = graph::dot_general(q_BTGRd, k,
                                          {.lhs_batch = {0, 2},
                                           .rhs_batch = {0, 2},
                                           .lhs_contracting = {4},
                                           .rhs_contracting = {3}},
                                          DType::kF32) *
                       s.scale;
  const Value seen = graph::broadcast_to(visible(q, k, s, extras), scores.dims());
  const Value kept = graph::select(seen > 0, scores, kUnseen);
  const Value top = graph::stop_gradient(graph::reduce_max(kept, {4}, /*keepdims=*/true));
  const Value weights = graph::exponential(kept - top) * seen;
  const Value total = graph::maximum(graph::sum(weights, {4}, /*keepdims=*/true), kNothing);
  // [B, G, T, R, d]
  const Value mixed = graph::dot_general(
      graph::convert(weights / total, q.dtype()), v,
      {.lhs_batch = {0, 1}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {1}},
      q.dtype());
  const Value log_sum_BGTR =
      graph::reshape(top + graph::log(total), {batch, groups, queries, heads / groups});
  return {graph::reshape(graph::transpose(mixed, {0, 2, 1, 3, 4}), q.dims()),
          graph::reshape(graph::transpose(log_sum_BGTR, {0, 1, 3, 2}), {batch, heads, queries})};
}

Values gradient_call(std::span<const Value> inputs, std::span<const Value> outputs, const Value& dy,
                     const Settings& s, const graph::Attributes& attributes,
                     std::source_location where) {
  const auto tensors = inputs.first(s.tensors());
  Values all(tensors.begin(), tensors.end());
  for (const Value& value : {outputs[0], outputs[1], graph::convert(dy, inputs[0].dtype())}) {
    all.push_back(value);
  }
  all.insert(all.end(), inputs.begin() + std::ssize(tensors), inputs.end());
  Values gradients = graph::custom_call(
      kAttentionGradKernel.call.name, all, attributes,
      [&](std::span<const Value> in) {
        const auto arguments = in.first(s.tensors());
        Values own(arguments.begin(), arguments.end());
        const auto extras = in.subspan(s.tensors() + 3);
        own.insert(own.end(), extras.begin(), extras.end());
        return graph::pullback(Values{plain(own, s)[0]}, Values{in[s.tensors() + 2]}, arguments);
      },
      {}, where);
  gradients.resize(inputs.size());  // masks and positions have no gradient
  return gradients;
}

void require_shapes(const Tensors& tensors, const AttentionOptions& o, std::source_location where) {
  const auto& [q, k, v] = tensors;
  const bool ranks = q.rank() == 4 && k.rank() == 4 && k.shape() == v.shape();
  const bool fits = ranks && graph::is_float(q.dtype()) && q.dtype() == k.dtype() &&
                    q.size(0) == k.size(0) && q.size(3) == k.size(3) && k.size(2) > 0 &&
                    q.size(2) % k.size(2) == 0;
  if (!fits) {
    fail(ExitCode::kFailure,
         fmt::format("attention: q {}, k {} and v {} do not fit: want q[B,T,H,d], k and v[B,S,G,d] "
                     "of one float type, H a multiple of G",
                     q.shape(), k.shape(), v.shape()),
         "", where);
  }
  const graph::Shape mask{DType::kF32, {k.size(0), k.size(1)}};
  if (o.key_mask_BS && o.key_mask_BS.shape() != mask) {
    fail(ExitCode::kFailure,
         fmt::format("attention: the key mask is {}, not {}", o.key_mask_BS.shape(), mask), "",
         where);
  }
  if (o.window < 0 || (o.window > 0 && !o.causal)) {
    fail(ExitCode::kFailure,
         fmt::format("attention: a window of {}{}", o.window,
                     o.causal ? " is negative" : " without causal order"),
         "", where);
  }
}

Settings settings_of(const AttentionOptions& options, int64_t head, bool joined) {
  const double usual = 1 / std::sqrt(static_cast<double>(head));
  return {.scale = options.scale != 0 ? options.scale : usual,
          .causal = options.causal,
          .window = options.window,
          .has_mask = static_cast<bool>(options.key_mask_BS),
          .has_first = static_cast<bool>(options.first),
          .joined = joined};
}

Value attend(Values inputs, const Settings& s, const AttentionOptions& options,
             std::source_location where) {
  graph::Attributes attributes;
  attributes.set("scale", s.scale);
  attributes.set("causal", s.causal);
  attributes.set("window", s.window);
  attributes.set("has_mask", s.has_mask);
  attributes.set("has_first", s.has_first);
  attributes.set("joined", s.joined);
  if (s.has_mask) inputs.push_back(options.key_mask_BS);
  if (s.has_first) inputs.push_back(options.first);
  const auto vjp = [=](std::span<const Value> in, std::span<const Value> out,
                       std::span<const Value> cotangents) {
    return gradient_call(in, out, cotangents[0], s, attributes, where);
  };
  return graph::custom_call(
      kAttentionKernel.call.name, inputs, attributes,
      [&](std::span<const Value> in) { return plain(in, s); }, {.vjp = vjp}, where)[0];
}

}  // namespace

Value attention(const Value& q, const Value& k, const Value& v, const AttentionOptions& options,
                std::source_location where) {
  require_shapes({q, k, v}, options, where);
  return attend({q, k, v}, settings_of(options, q.size(3), /*joined=*/false), options, where);
}

Value heads_of_groups(const Value& qkv, int64_t from, int64_t to) {
  return graph::reshape(graph::slice_in_dim(qkv, 3, from, to),
                        {qkv.size(0), qkv.size(1), qkv.size(2) * (to - from), qkv.size(4)});
}

Value self_attention(const Value& qkv, const AttentionOptions& options,
                     std::source_location where) {
  if (qkv.rank() != 5 || qkv.size(3) < 3) {
    fail(ExitCode::kFailure,
         fmt::format("self_attention: {} is not qkv[B,T,G,R+2,d] with R >= 1", qkv.shape()), "",
         where);
  }
  const Settings s = settings_of(options, qkv.size(4), /*joined=*/true);
  require_shapes(tensors_of(Values{qkv}, s), options, where);
  return attend({qkv}, s, options, where);
}

}  // namespace hum::kernels
