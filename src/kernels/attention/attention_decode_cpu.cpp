// Attention of a few queries: one new position against a cache of keys. Nothing is packed; keys and
// values are read once, in place.
#include <cmath>

#include "kernels/attention/attention_cpu_impl.h"
#include "kernels/attention/attention_decode.h"
#include "kernels/simd_math.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

template <typename Floats, typename T>
HUM_INLINE void attend_body(const DecodeRow<T>& row, int64_t head, float scale) {
  float top = kUnseen;
  for (int64_t s = row.keys.begin; s < row.keys.end; ++s) {
    Floats sum{};
    const T* k = row.k + s * row.stride;
    for (int64_t i = 0; i < head; i += kLanes)
      sum += simd::load<Floats>(row.q + i) * simd::load<Floats>(k + i);
    const bool hidden = row.key_mask != nullptr && !(row.key_mask[s] > 0);
    row.weights[s] = hidden ? kUnseen : simd::sum(sum) * scale;
    top = std::max(top, row.weights[s]);
  }
  Floats total{};
  for (int64_t s = row.keys.begin; s < row.keys.end; s += kLanes) {
    const int64_t left = row.keys.end - s;
    const Floats x = simd::load<Floats>(row.weights + s, left);
    const Floats weight =
        simd::keep(simd::select(x <= kUnseen, Floats{}, simd::exponential(x - top)), left);
    simd::store(row.weights + s, weight, left);
    total += weight;
  }
  for (int64_t i = 0; i < head; i += kLanes) simd::store(row.mixed + i, Floats{});
  for (int64_t s = row.keys.begin; s < row.keys.end; ++s) {
    const T* v = row.v + s * row.stride;
    for (int64_t i = 0; i < head; i += kLanes) {
      simd::store(row.mixed + i,
                  simd::load<Floats>(row.mixed + i) + simd::load<Floats>(v + i) * row.weights[s]);
    }
  }
  const float sum = std::max(simd::sum(total), 1e-30F);
  for (int64_t i = 0; i < head; i += kLanes) {
    simd::store(row.y + i, simd::load<Floats>(row.mixed + i) * (1 / sum));
  }
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
    Arena arena(thread_scratch(Arena::bytes(4 * p.keys) + Arena::bytes(4 * p.head)));
    auto* const weights = arena.take<float>(p.keys);
    auto* const mixed = arena.take<float>(p.head);
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
                          .mixed = mixed,
                          .y = arrays.y.at(b * p.queries + t, group, member),
                          .log_sum = arrays.log_sum + i},
             p.head, p.scale);
    }
  });
}

template void decode(const AttentionProblem&, const AttentionArrays<float>&, Workers&);
template void decode(const AttentionProblem&, const AttentionArrays<uint16_t>&, Workers&);

}  // namespace hum::kernels
