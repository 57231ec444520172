// Constant-length loops over small arrays, which GCC vectorizes. Nothing is contracted to
// multiply-adds: no target here has them.
#include "nn/normal_draws.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace hum::nn {
namespace {

constexpr int kDraws = 256;  // per call

#define HUM_NN_INLINE inline __attribute__((always_inline))

using Key = std::array<uint32_t, 2>;
using Words = std::array<uint32_t, kDraws>;
using Draws = std::array<double, kDraws>;

// threefry2x32 of the counters first, first + 1, ...
HUM_NN_INLINE void random_words(const Key& key, uint64_t first, Words& x0, Words& x1) {
  constexpr uint32_t kParity = 0x1BD11BDA;
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ kParity};
  for (uint32_t i = 0; i < kDraws; ++i) {
    const uint64_t counter = first + i;
    x0[i] = static_cast<uint32_t>(counter) + keys[0];
    x1[i] = static_cast<uint32_t>(counter >> 32) + keys[1];
  }
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      for (int i = 0; i < kDraws; ++i) {
        x0[i] += x1[i];
        x1[i] = ((x1[i] << rotation) | (x1[i] >> (32 - rotation))) ^ x0[i];
      }
    }
    const uint32_t key0 = keys[(group + 1) % 3], key1 = keys[(group + 2) % 3] + group + 1;
    for (int i = 0; i < kDraws; ++i) {
      x0[i] += key0;
      x1[i] += key1;
    }
  }
}

// log(n / 2^24) for integers n from 1 to 2^24, within a unit in the last place. Source: fdlibm's
// e_log.c.
HUM_NN_INLINE double log_of_share(double n) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e00000000;
  const uint64_t bits = __builtin_bit_cast(uint64_t, n);
  // n = m 2^e with m between sqrt(1/2) and sqrt(2).
  const uint64_t e = (bits - kSqrtHalf) >> 52;
  const double f = __builtin_bit_cast(double, bits - (e << 52)) - 1;
  // An integer in the low bits of 2^52 becomes a double without a conversion.
  constexpr uint64_t kTwo52 = 0x4330000000000000;
  const double k = __builtin_bit_cast(double, kTwo52 | e) - (0x1p52 + 24);
  const double s = f / (2 + f), z = s * s, w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z * (6.666666666666735130e-01 +
                          w * (2.857142874366239149e-01 +
                               w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  constexpr double kLog2High = 6.93147180369123816490e-01, kLog2Low = 1.90821492927058770002e-10;
  return k * kLog2High - ((half_square - (s * (half_square + even + odd) + k * kLog2Low)) - f);
}

// cos(t) for t from 0 to 2 pi, within a unit in the last place. Source: fdlibm's k_cos.c, k_sin.c.
HUM_NN_INLINE double cosine(double t) {
  // t = q pi / 2 + r with |r| <= pi / 4; pi / 2 is split so that q times its first part is exact.
  constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer
  constexpr double kHalfPiHigh = 1.57079632673412561417, kHalfPiLow = 6.07710050650619224932e-11;
  const double shifted = t * (2 / std::numbers::pi) + kRound;
  const double q = shifted - kRound;
  const uint64_t quadrant = __builtin_bit_cast(uint64_t, shifted);
  const double r = (t - q * kHalfPiHigh) - q * kHalfPiLow;
  const double z = r * r, w = z * z;
  const double sine_tail =
      8.33333333332248946124e-03 +
      z * (-1.98412698298579493134e-04 +
           z * (2.75573137070700676789e-06 +
                z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  const double sine = r + r * z * (-1.66666666666666324348e-01 + z * sine_tail);
  const double tail = z * (4.16666666666666019037e-02 +
                           z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
                      w * w *
                          (-2.75573143513906633035e-07 +
                           z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const double half = 0.5 * z, rest = 1 - half;
  const double straight = rest + ((1 - rest - half) + z * tail);
  // q: cos r, -sin r, -cos r, sin r, cos r.
  const double value = (quadrant & 1) != 0 ? sine : straight;
  const uint64_t sign = ((quadrant + 1) & 2) << 62;
  return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, value) ^ sign);
}

// Draws first, first + 1, ... of the stream, by the Box-Muller method as in Rng::normal.
HUM_NN_INLINE void draw_body(const Key& key, uint64_t first, Draws& draws) {
  constexpr uint32_t kDiscarded = 8;  // a uniform number has 24 bits
  Words x0, x1;
  random_words(key, first, x0, x1);
  for (int i = 0; i < kDraws; ++i) {
    const auto share = static_cast<double>((1 << 24) - static_cast<int32_t>(x0[i] >> kDiscarded));
    const double turn = static_cast<double>(static_cast<int32_t>(x1[i] >> kDiscarded)) * 0x1p-24;
    draws[i] = __builtin_sqrt(-2 * log_of_share(share)) * cosine(2 * std::numbers::pi * turn);
  }
}

__attribute__((target("avx2"))) void draw_avx2(const Key& key, uint64_t first, Draws& draws) {
  draw_body(key, first, draws);
}
void draw_baseline(const Key& key, uint64_t first, Draws& draws) { draw_body(key, first, draws); }

}  // namespace

void truncated_normals(Key key, double scale, std::span<float> values, kernels::Isa isa) {
  const auto draw = isa >= kernels::Isa::kAvx2 ? draw_avx2 : draw_baseline;
  Draws draws;
  size_t done = 0;
  for (uint64_t first = 0; done < values.size(); first += kDraws) {
    draw(key, first, draws);
    for (size_t i = 0; i < kDraws && done < values.size(); ++i) {
      values[done] = static_cast<float>(draws[i] * scale);
      done += std::abs(draws[i]) <= 2 ? 1 : 0;  // otherwise the next one replaces it
    }
  }
}

}  // namespace hum::nn
