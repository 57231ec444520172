#include <algorithm>
#include <array>

#include "base/error.h"
#include "graph/ops/stochastic_rounding.h"
#include "kernels/adamw/adamw.h"
#include "kernels/adamw/adamw_impl.h"
#include "kernels/ffi_workers.h"
#include "kernels/row_kernel.h"
#include "kernels/simd_math.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

constexpr int64_t kGroup = graph::kRoundingGroup;
constexpr int64_t kGroupVectors = kGroup / kLanes;

struct Step {
  const float* numbers;
  bool decays;
  uint32_t key[2];
};

// Row-major elements of one stream, from the start of a group on.
template <typename G>
struct Part {
  uint16_t* weights;
  float* mean;
  float* square;
  const G* gradient;
  int64_t count;
  uint32_t block;  // of the first group
  uint32_t stream;
};

// The high word of x * factor in each lane: 64-bit products, even and odd lanes separately.
template <typename Longs, typename Words>
HUM_INLINE Words high_product_of(Words x, uint32_t factor) {
  const Longs pairs = reinterpret_cast<Longs>(x);
  const Longs even = (pairs & 0xffffffff) * factor, odd = (pairs >> 32) * factor;
  return reinterpret_cast<Words>((even >> 32) | (odd & 0xffffffff00000000));
}
HUM_INLINE simd::RegisterWords high_product(simd::RegisterWords x, uint32_t factor) {
  using Longs __attribute__((vector_size(64))) = uint64_t;
  return high_product_of<Longs>(x, factor);
}
HUM_INLINE simd::WordsOf<simd::Pair> high_product(const simd::WordsOf<simd::Pair>& x,
                                                  uint32_t factor) {
  using Longs __attribute__((vector_size(32))) = uint64_t;
  return {high_product_of<Longs>(x.low, factor), high_product_of<Longs>(x.high, factor)};
}

// graph::philox4x32 with counters (block + lane, 0, stream, 0).
template <typename Words>
HUM_INLINE void philox(uint32_t block, uint32_t stream, const uint32_t* key, Words (&words)[4]) {
  Words c0 = simd::lane_numbers<Words>() + block, c1 = {}, c2 = Words{} + stream, c3 = {};
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const Words high0 = high_product(c0, 0xD2511F53), high1 = high_product(c2, 0xCD9E8D57);
    const Words low0 = c0 * 0xD2511F53, low1 = c2 * 0xCD9E8D57;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

// random: 16 bits per lane.
template <typename Floats>
HUM_INLINE void store_rounded(uint16_t* to, Floats x, simd::WordsOf<Floats> random, int64_t count) {
  const auto bits = simd::bits(x);
  uint16_t halves[kLanes];
  simd::store_low_halves(halves, simd::select(x == x, (bits + random) >> 16, (bits >> 16) | 0x40));
  std::memcpy(to, halves, static_cast<size_t>(std::min(count, kLanes)) * sizeof(uint16_t));
}

// Order, grouping and rounding match the plain ops (adamw.cpp) after XLA contracts them.
template <typename Floats, typename G>
HUM_INLINE void update_vector(const Part<G>& part, const Step& step, int64_t at,
                              simd::WordsOf<Floats> random) {
  using simd::multiply_add;
  const float* n = step.numbers;
  const int64_t left = part.count - at;
  const Floats w = simd::load<Floats>(part.weights + at, left),
               m = simd::load<Floats>(part.mean + at, left);
  const Floats v = simd::load<Floats>(part.square + at, left),
               g = simd::load<Floats>(part.gradient + at, left);
  const Floats mean = multiply_add(g, n[kMeanGain], multiply_add(m, -n[kMeanLoss], m));
  const Floats square = multiply_add(g * g, n[kSquareGain], multiply_add(v, -n[kSquareLoss], v));
  const Floats root = simd::square_root(square * n[kUnbias2]);
  Floats direction = (mean * n[kUnbias1]) / (root + n[kEpsilon]);
  if (step.decays) direction = multiply_add(w, n[kDecay], direction);
  simd::store(part.mean + at, mean, left);
  simd::store(part.square + at, square, left);
  store_rounded(part.weights + at, multiply_add(direction, -n[kLearningRate], w), random, left);
}

template <typename Floats, typename G>
HUM_INLINE void update_body(const Part<G>& part, const Step& step) {
  for (int64_t at = 0; at < part.count; at += kGroup) {
    using Words = simd::WordsOf<Floats>;
    Words words[4];
    philox(part.block + static_cast<uint32_t>(at / kGroup * kLanes), part.stream, step.key, words);
    for (int64_t k = 0; k < kGroupVectors && at + k * kLanes < part.count; ++k) {
      const Words word = words[k / 2];
      update_vector<Floats>(part, step, at + k * kLanes, k % 2 == 0 ? word & 0xffff : word >> 16);
    }
  }
}

#define HUM_ADAMW(G) \
  HUM_SIMD_FUNCTION(update, (const Part<G>& part, const Step& step), (part, step))
HUM_ADAMW(float)
HUM_ADAMW(uint16_t)
#undef HUM_ADAMW

// Groups are numbered across all parts; a range of groups is split where a part ends.
template <typename G>
void run(const pjrt::ffi::Call& call) {
  const auto weights = call.result(0).as<uint16_t>();
  const auto mean = call.result(1).as<float>(), square = call.result(2).as<float>();
  const auto gradient = call.argument(3).template as<const G>();
  const auto key = call.argument(5).as<const uint32_t>();
  const Step step = {call.argument(4).as<const float>().data(),
                     call.attributes().flag("decays"),
                     {key[0], key[1]}};
  const auto streams = call.attributes().integers("streams");
  const auto parts = static_cast<int64_t>(streams.size());
  const int64_t count = static_cast<int64_t>(weights.size()) / parts;
  const int64_t groups = (count + kGroup - 1) / kGroup;
  CallWorkers workers(call);
  for_each_range(workers, parts * groups, 256, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / groups, first = begin % groups;
      const int64_t until = std::min(end, (p + 1) * groups) - p * groups;
      const int64_t from = p * count + first * kGroup;
      update(Part<G>{weights.data() + from, mean.data() + from, square.data() + from,
                     gradient.data() + from, std::min(count, until * kGroup) - first * kGroup,
                     static_cast<uint32_t>(first * kLanes),
                     static_cast<uint32_t>(streams[static_cast<size_t>(p)])},
             step);
      begin = p * groups + until;
    }
  });
}

// The plugin honours aliases; where it cannot, it copies the input before the call.
void adamw_handler(const pjrt::ffi::Call& call) {
  for (int i = 0; i < 3; ++i) {
    HUM_CHECK(call.argument(i).data() == call.result(i).data(),
              "adamw: result {} does not share its input's buffer", i);
  }
  call.argument(3).is_bf16() ? run<uint16_t>(call) : run<float>(call);
}

}  // namespace

const Kernel kAdamwKernel = {{"hum.adamw", 1, &pjrt::ffi::handler<adamw_handler>},
                             worth_a_row_kernel};

}  // namespace hum::kernels
