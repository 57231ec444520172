// Attention of a few queries: one new position against a cache of keys. Nothing is packed; keys and
// values are read once, in place.
#include <cmath>

#include "kernels/attention/attention_cpu_impl.h"
#include "kernels/attention/attention_decode.h"
#include "kernels/simd_math.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Keys are far apart in memory, with other heads between them, so no processor foresees them.
template <typename T>
HUM_INLINE void prefetch_row(const T* row, int64_t head) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < head; i += kLine) __builtin_prefetch(row + i);
}
constexpr int64_t kKeysAhead = 16;

// Writes the scores of all keys to row.weights and returns the largest.
template <typename Floats, typename T>
HUM_INLINE float score(const DecodeRow<T>& row, int64_t head, float scale) {
  auto top = simd::broadcast<Floats>(kUnseen);
  for (int64_t first = row.keys.begin; first < row.keys.end; first += kLanes) {
    const int64_t count = std::min(row.keys.end - first, kLanes);
    Floats sums[kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      const T* k = row.k + (first + l) * row.stride;
      if (first + l + kKeysAhead < row.keys.end) prefetch_row(k + kKeysAhead * row.stride, head);
      for (int64_t i = 0; i < head; i += kLanes) {
        sums[l] += simd::load<Floats>(row.q + i) * simd::load<Floats>(k + i);
      }
    }
    simd::transpose(sums);
    Floats total{};
#pragma GCC unroll 16
    for (int l = 0; l < kLanes; ++l) total += sums[l];
    total = total * scale;
    const auto unseen = simd::broadcast<Floats>(kUnseen);
    if (row.key_mask != nullptr) {
      total = simd::select(simd::load<Floats>(row.key_mask + first, count) > 0.0F, total, unseen);
    }
    simd::store(row.weights + first, total, count);
    total = simd::select(simd::lane_numbers<simd::IntsOf<Floats>>() < static_cast<int32_t>(count),
                         total, unseen);
    top = simd::select(total > top, total, top);
  }
  float lanes[kLanes];
  simd::store(lanes, top);
  return *std::max_element(lanes, lanes + kLanes);
}

// Columns [from, from + 16 kVectors) of the sum of the values times their weights, times `factor`.
template <typename Floats, int kVectors, typename T>
HUM_INLINE void mix(const DecodeRow<T>& row, int64_t from, float factor) {
  Floats sums[kVectors] = {};
  for (int64_t s = row.keys.begin; s < row.keys.end; ++s) {
    const T* v = row.v + s * row.stride + from;
    if (s + kKeysAhead < row.keys.end) {
      prefetch_row(v + kKeysAhead * row.stride, kVectors * kLanes);
    }
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) {
      sums[c] += simd::load<Floats>(v + c * kLanes) * row.weights[s];
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) simd::store(row.y + from + c * kLanes, sums[c] * factor);
}

template <typename Floats, typename T>
HUM_INLINE void attend_body(const DecodeRow<T>& row, int64_t head, float scale) {
  const float top = score<Floats>(row, head, scale);
  Floats total{};
  for (int64_t s = row.keys.begin; s < row.keys.end; s += kLanes) {
    const int64_t left = row.keys.end - s;
    const Floats x = simd::load<Floats>(row.weights + s, left);
    const Floats weight =
        simd::keep(simd::select(x <= kUnseen, Floats{}, simd::exponential(x - top)), left);
    simd::store(row.weights + s, weight, left);
    total += weight;
  }
  const float sum = std::max(simd::sum(total), 1e-30F);
  constexpr int kVectors = 4;
  int64_t i = 0;
  for (; i + kVectors * kLanes <= head; i += kVectors * kLanes) {
    mix<Floats, kVectors>(row, i, 1 / sum);
  }
  for (; i < head; i += kLanes) mix<Floats, 1>(row, i, 1 / sum);
  *row.log_sum = top + std::log(sum);
}

}  // namespace

HUM_SIMD_FUNCTION(attend, (const DecodeRow<float>& row, int64_t head, float scale),
                  (row, head, scale))
HUM_SIMD_FUNCTION(attend, (const DecodeRow<uint16_t>& row, int64_t head, float scale),
                  (row, head, scale))

bool is_decode(const AttentionProblem& p) {
  constexpr int64_t kMostRows = 8;  // above this, a packed block of queries is faster
  return p.queries * p.per_group() <= kMostRows;
}

template <typename T>
void decode(const AttentionProblem& p, const AttentionArrays<T>& arrays, Workers& workers) {
  const int64_t rows = p.batch * p.heads * p.queries;
  constexpr int64_t kLeastProducts = 65536;  // enough to pay for waking a thread
  const int64_t grain =
      std::max<int64_t>(kLeastProducts / std::max<int64_t>(p.keys * p.head, 1), 1);
  for_each_range(workers, rows, grain, [&](int64_t begin, int64_t end) {
    auto* const weights =
        reinterpret_cast<float*>(thread_scratch(static_cast<size_t>(4 * p.keys)).data());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t t = i % p.queries, h = i / p.queries % p.heads, b = i / (p.queries * p.heads);
      const int64_t group = h / p.per_group(), member = h % p.per_group();
      const auto& [q, k, v] = arrays.tensors;
      attend(DecodeRow<T>{.q = q.at(b * p.queries + t, group, member),
                          .k = k.at(b * p.keys, group),
                          .v = v.at(b * p.keys, group),
                          .stride = k.token_stride,
                          .key_mask = p.key_mask == nullptr ? nullptr : p.key_mask + b * p.keys,
                          .keys = p.keys_of(t),
                          .weights = weights,
                          .y = arrays.y.at(b * p.queries + t, group, member),
                          .log_sum = arrays.log_sum + i},
             p.head, p.scale);
    }
  });
}

template void decode(const AttentionProblem&, const AttentionArrays<float>&, Workers&);
template void decode(const AttentionProblem&, const AttentionArrays<uint16_t>&, Workers&);

}  // namespace hum::kernels
