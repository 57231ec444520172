#include "plan/step_time.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/memory.h"

// Symbols: M tokens of a micro-batch, h width, s sequence, t tensor-parallel ranks.
namespace hum::plan {

using graph::RecomputePolicy;

namespace {

// The same for all hardware: known effects, never fitted.
constexpr double kFlashShare = 0.7;           // flash attention's efficiency relative to products
constexpr double kCollectiveStart_s = 20e-6;  // latency of a collective or transfer
constexpr double kHeadLaunches = 0.8;  // launches of embedding, head and loss, relative to a block

// Bytes that the kernels between the products read and write per element, forward and backward: one
// term per array, 2 for 16 bits, 4 for 32, 1 for a mask or a causal half. Counted in the kernels of
// Megatron-LM (fused_kernels/scaled_upper_triang_masked_softmax.h; megatron/core:
// fusions/fused_bias_dropout.py, fusions/fused_bias_gelu.py, transformer/dot_product_attention.py,
// tensor_parallel/cross_entropy.py) and of Apex (fused_layer_norm, the mixed-precision Adam). The
// runs agree as far as they can tell: with all bytes but the optimizer's multiplied by a factor,
// the mean held-out error of the A100 runs is 5.9 % at 0.5, 5.4 at 0.75, 5.5 at 1, 5.7 at 1.25, 6.2
// at 2.
struct Bytes {
  double forward = 0, backward = 0;
  Bytes operator+(const Bytes& other) const {
    return {forward + other.forward, backward + other.backward};
  }
  Bytes operator*(double count) const { return {forward * count, backward * count}; }
};
// x -> y; dy, x -> dx, and another pass for the gradients of scale and bias.
constexpr Bytes kNorm = {2 + 2, (2 + 2 + 2) + (2 + 2)};
// x, residual -> y; backward adds their gradients. Dropout also has its mask, and dx from dy.
constexpr Bytes kResidual = {2 + 2 + 2, 2 + 2 + 2}, kDropout = {1, 2 + 1 + 2};
// The context made contiguous; backward also joins the gradients of queries, keys and values.
constexpr Bytes kHeads = {2 + 2, (2 + 2) + 3 * (2 + 2)};
constexpr Bytes kRotary = {2 * (2 + 2), 2 * (2 + 2)};  // queries and keys
constexpr Bytes kBias = {0, 2};                        // its gradient: dy summed
// Per element of the MLP's inner width: GELU in one kernel; SiLU, then the product, in two.
constexpr Bytes kGelu = {2 + 2, 2 + 2 + 2};
constexpr Bytes kSwiglu = {(2 + 2) + (2 + 2 + 2), (2 + 2 + 2) + (2 + 2 + 2 + 2 + 2)};
// Per score.
constexpr Bytes kSoftmax = {1 + 2, 1 + 1 + 2}, kScoreDropout = {2 + 2 + 1, 2 + 1 + 2};
// Per logit, in f32: cast, maximum, difference, exponential, sum, quotient; gradient, cast.
constexpr Bytes kLoss = {(2 + 4) + 4 + (4 + 4) + (4 + 4) + 4 + (4 + 4), (4 + 4) + (4 + 2)};
// Per parameter: its gradient is cast and read by the norm; gradient, master weight and both
// moments are read; the last three and the weight are written.
constexpr double kOptimizerBytes = (2 + 4) + 4 + 4 + 3 * (4 + 4) + 2;

// By the part of the width that a tp rank holds: all of it, its heads, its share of the MLP.
struct BlockBytes {
  Bytes whole, heads, inner, score;
};
// GPT has biases and dropout. Llama, whose MLP is gated, has rotary positions.
const BlockBytes kGpt = {(kNorm + kResidual + kDropout + kBias) * 2, kHeads + kBias * 3,
                         kGelu + kBias, kSoftmax + kScoreDropout};
const BlockBytes kLlama = {(kNorm + kResidual) * 2, kHeads + kRotary, kSwiglu, kSoftmax};

// The cost of one block, or the head, on a device for one micro-batch.
struct Work {
  double device = 0, collectives = 0, host = 0;
  // Host and device work overlap, but not perfectly if both take long.
  double seconds() const { return std::hypot(device + collectives, host); }
};

class Stage {
 public:
  Stage(const Transformer& model, const Layout& layout, const Device& device,
        const Efficiency& efficiency)
      : model_(model),
        layout_(layout),
        flops_(device.peak_tflops.value * 1e12 * efficiency.gemm),
        memory_(device.memory_gb_per_s.value * 1e9 * efficiency.memory),
        link_(device.link_gb_per_s.value * 1e9 * efficiency.link),
        network_(device.network_gb_per_s.value * 1e9 * efficiency.network),
        node_(device.devices_per_node.value),
        host_(efficiency.host_ms_per_layer * 1e-3),
        sync_(efficiency.sync_us * 1e-6),
        t_(static_cast<double>(layout.tp)),
        h_(static_cast<double>(model.hidden)),
        s_(static_cast<double>(model.sequence)),
        tokens_(static_cast<double>(layout.micro_batch) * s_) {}

  Work block() const;
  Work head() const;
  double transfer() const;
  // A collective among dp ranks that moves `bytes` (d - 1) / d times over the slowest link.
  double reduce(double bytes) const;
  double optimizer_pass(double parameters) const { return kOptimizerBytes * parameters / memory_; }

 private:
  // `count` products [M, K] x [K, N].
  double product(double m, double n, double k, double count = 1) const {
    return count * (2 * m * n * k / flops_ + 2 * (m * n + n * k + m * k) / memory_);
  }
  struct Passes {
    double forward = 0, backward = 0;
  };
  Passes linear(double n, double k) const {
    return {product(tokens_, n, k), product(tokens_, k, n) + product(n, k, tokens_)};
  }
  const BlockBytes& block_bytes() const { return model_.gated ? kLlama : kGpt; }
  Passes projections() const;
  Passes attention() const;
  Passes elementwise() const;
  double all_reduce() const;

  const Transformer& model_;
  const Layout& layout_;
  double flops_, memory_, link_, network_, node_, host_, sync_, t_, h_, s_, tokens_;
};

Stage::Passes Stage::projections() const {
  const double d = static_cast<double>(model_.head_width());
  const double kv = d * std::max(static_cast<double>(model_.key_value_heads()) / t_, 1.0);
  const double f = static_cast<double>(model_.ffn_width());
  Passes sum;
  for (const Passes& p : {linear(h_ / t_ + 2 * kv, h_), linear(h_, h_ / t_),
                          linear((model_.gated ? 2 : 1) * f / t_, h_), linear(h_, f / t_)}) {
    sum.forward += p.forward;
    sum.backward += p.backward;
  }
  return sum;
}

// Scores, softmax, dropout, and the weighted sum.
Stage::Passes Stage::attention() const {
  const double d = static_cast<double>(model_.head_width());
  const double matrices = tokens_ / s_ * static_cast<double>(model_.heads) / t_;
  if (layout_.flash_attention) {  // causal: half of the scores; five products backward
    const double forward = 2 * matrices * s_ * s_ * d / (flops_ * kFlashShare);
    return {forward, 2.5 * forward};
  }
  const double scores = matrices * s_ * s_;
  const double forward = product(s_, s_, d, matrices) + product(s_, d, s_, matrices);
  const Bytes bytes = block_bytes().score * scores;
  return {forward + bytes.forward / memory_, 2 * forward + bytes.backward / memory_};
}

// Norms, residuals and dropout run on every tp rank (or split, with sequence parallelism).
// Activations, biases and transposes between the products split over tp.
Stage::Passes Stage::elementwise() const {
  const double elements = tokens_ * h_;
  const double whole = elements / (layout_.sequence_parallel ? t_ : 1);
  const double inner = static_cast<double>(model_.ffn_width()) / h_;
  const BlockBytes& b = block_bytes();
  const Bytes bytes = b.whole * whole + (b.heads + b.inner * inner) * (elements / t_);
  return {bytes.forward / memory_, bytes.backward / memory_};
}

// Of one activation over tp; sequence parallelism's reduce-scatter and all-gather move as much.
double Stage::all_reduce() const {
  if (t_ <= 1) return 0;
  const double slowest = t_ > node_ ? std::min(link_, network_) : link_;
  return 2 * (t_ - 1) / t_ * 2 * tokens_ * h_ / slowest + kCollectiveStart_s;
}

Work Stage::block() const {
  const Passes p = projections(), a = attention(), e = elementwise();
  const bool full = layout_.recompute == RecomputePolicy::kFull;
  const bool selective = layout_.recompute == RecomputePolicy::kSelective;
  const double forward = p.forward + a.forward + e.forward;
  Work work;
  work.device = forward + p.backward + a.backward + e.backward;
  if (full) work.device += forward;
  if (selective && !layout_.flash_attention) work.device += a.forward;
  const double collectives = full ? 6 : 4;
  work.collectives = collectives * all_reduce();
  work.host = host_ * (full ? 4.0 / 3 : selective ? 1.1 : 1) + collectives * sync_ * std::log2(t_);
  return work;
}

Work Stage::head() const {
  const double v = static_cast<double>(model_.vocab) / t_;
  const Passes p = linear(v, h_);
  return {
      .device = p.forward + p.backward + (kLoss.forward + kLoss.backward) * tokens_ * v / memory_,
      .host = kHeadLaunches * host_};
}

// One activation to the next stage; each tp rank sends its part, all devices of a node at once.
double Stage::transfer() const {
  const double ranks = t_ * static_cast<double>(layout_.dp);
  const double bandwidth = ranks >= node_ ? network_ / node_ : link_;
  return 2 * tokens_ * h_ / t_ / bandwidth + kCollectiveStart_s;
}

double Stage::reduce(double bytes) const {
  const double d = static_cast<double>(layout_.dp);
  if (d <= 1) return 0;
  double bandwidth = link_;
  if (d * t_ > node_) {  // rings of different groups share the node's network
    const double members = std::clamp(node_ / t_, 1.0, std::min(d, node_));
    bandwidth = std::min(network_ * members / node_, link_);
  }
  return (d - 1) / d * bytes / bandwidth;
}

// All-reduce of 16-bit gradients. If overlapped: reduce-scatter hidden behind the backward pass of
// one micro-batch, all-gather behind the forward pass of the next.
double gradient_seconds(const Stage& stage, const Layout& layout, double parameters,
                        double micro_batch_s) {
  const double half = stage.reduce(2 * parameters);
  if (!layout.overlap_gradients) return 2 * half;
  return std::max(0.0, half - micro_batch_s * 2 / 3) + std::max(0.0, half - micro_batch_s / 3);
}

}  // namespace

StepTime step_time(const Transformer& model, const Layout& layout, const Device& device,
                   const Efficiency& efficiency) {
  const Stage stage(model, layout, device, efficiency);
  const Work block = stage.block(), head = stage.head();
  const Stages stages = stages_of(model, layout);
  const auto layers = static_cast<double>(stages.blocks);
  const double m = static_cast<double>(layout.micro_batches());
  const double v = static_cast<double>(layout.chunks());
  const double transfers = layout.pp > 1 ? 2 * v * stage.transfer() : 0;
  const double plain = layers * block.seconds() + transfers;
  // The slowest stage determines the time, unless transfers take longer. It is the last, with the
  // head (in place of a block if it has one fewer).
  const double spared = stages.short_last ? block.seconds() : 0;
  const bool last_paces = layout.pp == 1 || head.seconds() - spared >= transfers;
  const double paced = layers - (last_paces && stages.short_last ? 1 : 0);
  StepTime time;
  time.compute = m * paced * block.device;
  time.tensor_parallel = m * paced * block.collectives;
  time.host = m * paced * (block.seconds() - block.device - block.collectives);
  if (last_paces) {
    time.compute += m * head.device;
    time.host += m * (head.seconds() - head.device);
  } else {
    time.pipeline = m * transfers;
  }
  time.bubble = static_cast<double>(layout.pp - 1) * plain / v;
  const double parameters = parameters_per_device(model, layout);
  time.gradients = gradient_seconds(stage, layout, parameters, layers * block.seconds());
  time.optimizer = stage.optimizer_pass(
      parameters / (layout.distributed_optimizer ? static_cast<double>(layout.dp) : 1));
  return time;
}

std::optional<Layout> fastest_schedule(const Transformer& model, const Layout& layout,
                                       const Device& device, const Efficiency& efficiency) {
  const int64_t sequences = layout.global_batch / layout.dp;
  const int64_t stage_layers = stages_of(model, layout).blocks;
  std::optional<Layout> best;
  double fastest = 0;
  for (const int64_t micro : divisors(sequences)) {
    if (layout.micro_batch > 0 && micro != layout.micro_batch) continue;
    for (int64_t v = 1; v <= (layout.pp > 1 ? stage_layers : 1); ++v) {
      // Interleaving needs a number of micro-batches that pp divides.
      if (stage_layers % v != 0 || (v > 1 && sequences / micro % layout.pp != 0)) continue;
      if (layout.interleave > 0 && v != layout.interleave) continue;
      Layout tried = layout;
      tried.micro_batch = micro;
      tried.interleave = v;
      if (memory_per_device(model, tried).total() > device.memory_gb.value * 1e9) continue;
      const double seconds = step_time(model, tried, device, efficiency).total();
      if (best && seconds >= fastest) continue;
      fastest = seconds;
      best = tried;
    }
  }
  return best;
}

Layout complete_layout(const Transformer& model, const Layout& layout, const Device& device,
                       const Efficiency& efficiency) {
  if (layout.micro_batch > 0) return layout;
  Layout open = layout;
  open.interleave = 0;
  if (const auto best = fastest_schedule(model, open, device, efficiency)) return *best;
  fail(ExitCode::kBadData,
       fmt::format("no micro-batch fits: one sequence on {} x {} x {} devices needs more than "
                   "the {:.0f} GB of a {}",
                   layout.dp, layout.tp, layout.pp, device.memory_gb.value, device.name),
       "use more tp or pp, recomputation, or a distributed optimizer");
}

}  // namespace hum::plan
