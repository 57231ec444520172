// The discrete Fourier transform of sixteen signals, one per lane: no shuffles, any size whose
// prime factors are 2, 3, 5 and 7. Source: Stockham's self-sorting form, as in van Loan 1992,
// "Computational frameworks for the fast Fourier transform", section 1.7.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/simd.h"
#include "kernels/stft/fft_plan.h"

namespace hum::kernels {

template <typename Floats>
struct Complex {
  Floats re, im;
};

template <typename Floats>
HUM_INLINE Complex<Floats> operator+(const Complex<Floats>& a, const Complex<Floats>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename Floats>
HUM_INLINE Complex<Floats> operator-(const Complex<Floats>& a, const Complex<Floats>& b) {
  return {a.re - b.re, a.im - b.im};
}
// a times the complex number at `w`.
template <typename Floats>
HUM_INLINE Complex<Floats> times(const Complex<Floats>& a, const float* w) {
  return {a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}

// The `R` point transform of `a`, in place.
template <int R, typename Floats>
HUM_INLINE void butterfly(Complex<Floats> (&a)[R], const float* roots) {
  if constexpr (R == 2) {
    const Complex<Floats> sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (R == 4) {
    const Complex<Floats> s02 = a[0] + a[2], d02 = a[0] - a[2], s13 = a[1] + a[3],
                          d13 = a[1] - a[3];
    a[0] = s02 + s13;
    a[2] = s02 - s13;
    a[1] = {d02.re + d13.im, d02.im - d13.re};
    a[3] = {d02.re - d13.im, d02.im + d13.re};
  } else {
    // Odd: terms j and R - j share a cosine and have opposite sines.
    constexpr int kHalf = R / 2;
    Complex<Floats> sums[kHalf], differences[kHalf];
    Complex<Floats> total = a[0];
#pragma GCC unroll 8
    for (int j = 1; j <= kHalf; ++j) {
      sums[j - 1] = a[j] + a[R - j];
      differences[j - 1] = a[j] - a[R - j];
      total = total + sums[j - 1];
    }
    const Complex<Floats> first = a[0];
    a[0] = total;
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      Complex<Floats> even = first, odd{};
#pragma GCC unroll 8
      for (int j = 1; j <= kHalf; ++j) {
        const float* root = roots + 2 * (j * k % R);
        even = {even.re + sums[j - 1].re * root[0], even.im + sums[j - 1].im * root[0]};
        odd = {odd.re + differences[j - 1].re * root[1], odd.im + differences[j - 1].im * root[1]};
      }
      a[k] = {even.re - odd.im, even.im + odd.re};
      a[R - k] = {even.re + odd.im, even.im - odd.re};
    }
  }
}

template <int R, typename Floats>
HUM_INLINE void run_stage(const FftStage& stage, const Complex<Floats>* from, Complex<Floats>* to) {
  const int64_t m = stage.m, s = stage.stride;
  for (int64_t p = 0; p < m; ++p) {
    const float* w = stage.twiddles.data() + 2 * p * (R - 1);
    for (int64_t q = 0; q < s; ++q) {
      Complex<Floats> a[R];
#pragma GCC unroll 8
      for (int j = 0; j < R; ++j) a[j] = from[q + s * (p + j * m)];
      butterfly<R>(a, stage.roots.data());
      to[q + s * (R * p)] = a[0];
#pragma GCC unroll 8
      for (int k = 1; k < R; ++k) to[q + s * (R * p + k)] = times(a[k], w + 2 * (k - 1));
    }
  }
}

// The forward transform (exponent -) of data[n], unscaled. Overwrites both arrays; returns the one
// that holds the result.
template <typename Floats>
HUM_INLINE Complex<Floats>* lane_fft(const FftPlan& plan, Complex<Floats>* data,
                                     Complex<Floats>* scratch) {
  for (const FftStage& stage : plan.stages) {
    switch (stage.radix) {
      case 2:
        run_stage<2>(stage, data, scratch);
        break;
      case 3:
        run_stage<3>(stage, data, scratch);
        break;
      case 4:
        run_stage<4>(stage, data, scratch);
        break;
      case 5:
        run_stage<5>(stage, data, scratch);
        break;
      default:
        run_stage<7>(stage, data, scratch);
        break;
    }
    std::swap(data, scratch);
  }
  return data;
}

}  // namespace hum::kernels
