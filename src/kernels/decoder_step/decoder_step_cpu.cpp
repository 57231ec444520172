#include <algorithm>
#include <cmath>

#include "graph/ops/custom_call.h"
#include "kernels/attention/attention_decode.h"
#include "kernels/decoder_step/decoder_step.h"
#include "kernels/decoder_step/decoder_step_impl.h"
#include "kernels/ffi_workers.h"
#include "kernels/matmul/few_rows.h"
#include "kernels/rotary/rotary_cpu.h"
#include "kernels/row_kernel.h"
#include "kernels/simd.h"
#include "kernels/table.h"
#include "kernels/team.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// B batch, D width, G groups, M heads of a group with its key and value, S positions.
struct Sizes {
  int64_t batch, width, groups, members, head, half, positions, feed_forward, layers;

  int64_t queries() const { return groups * (members - 2) * head; }
  int64_t joined() const { return groups * members * head; }
};

template <typename T>
struct Layer {
  const float *attention_norm, *feed_forward_norm;
  const T *qkv, *out, *gate_up, *down;
  T *keys, *values;
};

// The call's arguments.
template <typename T>
struct Arguments {
  explicit Arguments(const pjrt::ffi::Call& call)
      : call(call), has_mask(call.attributes().flag("has_mask")) {
    const auto x = call.argument(0), cache = layer_input(0, kKeys);
    sizes = {.batch = x.size(0),
             .width = x.size(2),
             .groups = cache.size(2),
             .members = layer_input(0, kQkv).size(0) / (cache.size(2) * cache.size(3)),
             .head = cache.size(3),
             .half = call.argument(1).size(2),
             .positions = cache.size(1),
             .feed_forward = layer_input(0, kDown).size(1),
             .layers = (call.result_count() - 1) / 2};
    waves = call.argument(1).as<const float>().data();
    position = std::clamp<int64_t>(call.argument(2).as<const int32_t>()[0], 0, sizes.positions - 1);
    if (has_mask) mask = call.argument(kDecoderHeadInputs).as<const float>().data();
    epsilon = static_cast<float>(call.attributes().real("epsilon"));
  }

  pjrt::ffi::Array layer_input(int layer, int which) const {
    return call.argument(kDecoderHeadInputs + (has_mask ? 1 : 0) + layer * kDecoderLayerInputs +
                         which);
  }
  Layer<T> layer(int index) const {
    const auto scale = [&](int which) {
      return layer_input(index, which).template as<const float>().data();
    };
    const auto weight = [&](int which) {
      return layer_input(index, which).template as<const T>().data();
    };
    return {.attention_norm = scale(kAttentionNorm),
            .feed_forward_norm = scale(kFeedForwardNorm),
            .qkv = weight(kQkv),
            .out = weight(kOut),
            .gate_up = weight(kGateUp),
            .down = weight(kDown),
            .keys = call.result(1 + 2 * index).template as<T>().data(),
            .values = call.result(2 + 2 * index).template as<T>().data()};
  }

  const pjrt::ffi::Call& call;
  bool has_mask;
  Sizes sizes;
  const float* waves;
  int64_t position;
  const float* mask = nullptr;
  float epsilon;
};

template <typename T>
class Decoder {
 public:
  Decoder(const Arguments<T>& arguments, Workers& workers)
      : in_(arguments),
        s_(arguments.sizes),
        x_(arguments.call.result(0).template as<T>().data()),
        team_(workers) {
    const int64_t widest = std::max({s_.width, s_.queries(), s_.feed_forward});
    const int64_t sums = s_.batch * std::max({s_.joined(), s_.width, 2 * s_.feed_forward});
    const int64_t wide = s_.batch * widened_size<T>(widest);
    const int64_t rows = s_.batch * std::max(widest, s_.joined());
    const auto floats = [](int64_t count) { return Arena::bytes(4 * count); };
    memory_ = aligned_memory(floats(wide) + floats(sums) + 2 * floats(rows));
    Arena arena({memory_.get(), floats(wide) + floats(sums) + 2 * floats(rows)});
    wide_ = arena.take<float>(wide);
    sums_ = arena.take<float>(sums);
    qkv_ = arena.take<T>(rows);
    rows_ = arena.take<T>(rows);
  }

  void run() {
    const auto x = in_.call.argument(0).template as<const T>();
    std::copy(x.begin(), x.end(), x_);
    for (int i = 0; i < s_.layers; ++i) {
      const Layer<T> layer = in_.layer(i);
      attend_all(layer);
      feed_forward(layer);
    }
  }

 private:
  void attend_all(const Layer<T>& layer) {
    normalise_all(layer.attention_norm);
    multiply(layer.qkv, s_.joined(), s_.width, [&](const float* sums, int64_t at, int64_t count) {
      store_rounded(sums, qkv_ + at, count);
    });
    team_.for_each_chunk(s_.batch * s_.groups,
                         [&](int64_t i) { attend_group(layer, i / s_.groups, i % s_.groups); });
    widen(s_.queries());
    add_product(layer.out, s_.queries());
  }

  void feed_forward(const Layer<T>& layer) {
    const int64_t n = s_.feed_forward;
    normalise_all(layer.feed_forward_norm);
    const FewRows<T, float> product{wide_, layer.gate_up, sums_, s_.batch, 2 * n, s_.width};
    for_each_columns(n, 2 * s_.width, [&](int64_t begin, int64_t end) {
      few_columns(product, begin, end);
      few_columns(product, n + begin, n + end);
      for (int64_t b = 0; b < s_.batch; ++b) {
        const float* gates = sums_ + 2 * b * n + begin;
        store_gated(gates, gates + n, rows_ + b * n + begin, end - begin);
      }
    });
    widen(n);
    add_product(layer.down, n);
  }

  // wide_ = norm(x)
  void normalise_all(const float* scale) {
    for (int64_t b = 0; b < s_.batch; ++b) {
      normalise(x_ + b * s_.width, scale, rows_ + b * s_.width, s_.width, in_.epsilon);
    }
    widen(s_.width);
  }

  // wide_ = rows_[batch, width]
  void widen(int64_t width) {
    for (int64_t b = 0; b < s_.batch; ++b) {
      widen_row(rows_ + b * width, width, wide_ + b * widened_size<T>(width));
    }
  }

  // x += wide_[batch, k] weight^T
  void add_product(const T* weight, int64_t k) {
    multiply(weight, s_.width, k, [&](const float* sums, int64_t at, int64_t count) {
      add_rounded(sums, x_ + at, count);
    });
  }

  // Computes wide_[batch, k] weight[n, k]^T and calls finish(sums, at, count) for all its parts;
  // `at` counts elements of [batch, n].
  template <typename Finish>
  void multiply(const T* weight, int64_t n, int64_t k, const Finish& finish) {
    const FewRows<T, float> product{wide_, weight, sums_, s_.batch, n, k};
    for_each_columns(n, k, [&](int64_t begin, int64_t end) {
      few_columns(product, begin, end);
      for (int64_t b = 0; b < s_.batch; ++b) {
        finish(sums_ + b * n + begin, b * n + begin, end - begin);
      }
    });
  }

  // Calls body(begin, end) for ranges of n columns, each of which reads `elements` weights.
  template <typename Body>
  void for_each_columns(int64_t n, int64_t elements, const Body& body) {
    constexpr int64_t kChunkBytes = 128 * 1024;  // about 5 us
    const int64_t column_bytes = elements * static_cast<int64_t>(sizeof(T));
    const int64_t width = std::max<int64_t>(kChunkBytes / column_bytes / kLanes, 1) * kLanes;
    team_.for_each_chunk((n + width - 1) / width,
                         [&](int64_t i) { body(i * width, std::min((i + 1) * width, n)); });
  }

  // Rotates the heads of a group, adds its key and value to the caches, and attends.
  void attend_group(const Layer<T>& layer, int64_t item, int64_t group) {
    const int64_t d = s_.head, members = s_.members, stride = s_.groups * d;
    Arena arena(thread_scratch(Arena::bytes(4 * s_.positions) + Arena::bytes(4 * members * d)));
    auto* const weights = arena.template take<float>(s_.positions);
    auto* const heads = arena.template take<T>(members * d);
    turn(qkv_ + item * s_.joined() + group * members * d, in_.waves, heads,
         {.groups = 1, .members = members, .turned = members - 1, .head = d, .half = s_.half});
    T* const keys = layer.keys + item * s_.positions * stride + group * d;
    T* const values = layer.values + item * s_.positions * stride + group * d;
    std::copy_n(heads + (members - 2) * d, d, keys + in_.position * stride);
    std::copy_n(heads + (members - 1) * d, d, values + in_.position * stride);
    for (int64_t m = 0; m < members - 2; ++m) {
      float log_sum;
      attend(
          DecodeRow<T>{.q = heads + m * d,
                       .k = keys,
                       .v = values,
                       .stride = stride,
                       .key_mask = in_.mask == nullptr ? nullptr : in_.mask + item * s_.positions,
                       .keys = {0, in_.position + 1},
                       .weights = weights,
                       .y = rows_ + item * s_.queries() + (group * (members - 2) + m) * d,
                       .log_sum = &log_sum},
          d, 1 / std::sqrt(static_cast<float>(d)));
    }
  }

  const Arguments<T>& in_;
  const Sizes s_;
  T* const x_;  // [batch, width]
  AlignedMemory memory_;
  float* wide_;  // the rows that the next product reads, widened
  float* sums_;  // products, [batch, columns]
  T* qkv_;       // [batch, joined]
  T* rows_;      // normalised, mixed or gated rows, before they are widened
  Team team_;    // last: its threads use the rest
};

template <typename T>
void run(const pjrt::ffi::Call& call) {
  CallWorkers workers(call);
  const Arguments<T> arguments(call);
  Decoder<T>(arguments, workers).run();
}

bool is_available(const graph::Node& node) {
  const bool has_mask = graph::custom_call_settings(node).get<bool>("has_mask");
  const auto layer = [&](int which) {
    return node.input(kDecoderHeadInputs + (has_mask ? 1 : 0) + which).shape();
  };
  const int64_t head = layer(kKeys).size(3), width = node.input(0).size(2);
  return chosen_isa() >= Isa::kAvx2 && node.input(0).size(0) <= kMostFewRows &&
         head % kLanes == 0 && width % kLanes == 0 && layer(kDown).size(1) % kLanes == 0;
}

}  // namespace

const Kernel kDecoderStepKernel = {
    {"hum.decoder_step", 1, &pjrt::ffi::handler<by_dtype<run<float>, run<uint16_t>>>},
    is_available};

}  // namespace hum::kernels
