// Moves frames of a waveform into the lanes of a transform, and back. Two sets of sixteen frames
// form a group: the first set is the real part of a complex transform, the second the imaginary
// part.
#pragma once

#include <algorithm>
#include <span>

#include "kernels/parallel.h"
#include "kernels/stft/lane_fft.h"

namespace hum::kernels {

constexpr int64_t kFrameGroup = 2 * simd::kLanes;

// The frames of one waveform.
struct Frames {
  const FftPlan* plan = nullptr;
  const float* window = nullptr;
  int64_t n = 0, bins = 0, hop = 0, count = 0, samples = 0;
};

// The frame in lane `lane` of a set; lanes past the end repeat the last frame.
HUM_INLINE int64_t lane_frame(const Frames& f, int64_t first, int64_t lane) {
  return std::min(first + lane, f.count - 1);
}

// Elements at .. at + 15 of sixteen rows, as sixteen vectors across rows. rows[lane]: row start.
template <typename Floats>
HUM_INLINE void load_rows(const float* base, const int64_t* rows, int64_t at, int64_t count,
                          Floats (&block)[simd::kLanes]) {
#pragma GCC unroll 16
  for (int lane = 0; lane < simd::kLanes; ++lane) {
    block[lane] = simd::load<Floats>(base + rows[lane] + at, count);
  }
  simd::transpose(block);
}

// Starts of the rows of a group's two sets in an array with `stride` elements per frame.
struct GroupRows {
  int64_t a[simd::kLanes], b[simd::kLanes];
};
HUM_INLINE void group_rows(const Frames& f, int64_t first, int64_t stride, GroupRows& rows) {
  for (int64_t lane = 0; lane < simd::kLanes; ++lane) {
    rows.a[lane] = lane_frame(f, first, lane) * stride;
    rows.b[lane] = lane_frame(f, first + simd::kLanes, lane) * stride;
  }
}

// This thread's memory for a transform: two arrays of n, followed by `more` vectors.
class TransformScratch {
 public:
  explicit TransformScratch(int64_t n, int64_t more = 0)
      : n_(n), bytes_(thread_scratch(static_cast<size_t>(4 * n + more) * sizeof(simd::Register))) {}

  template <typename Floats>
  Complex<Floats>* data() const {
    static_assert(sizeof(Floats) == sizeof(simd::Register));
    return reinterpret_cast<Complex<Floats>*>(bytes_.data());
  }
  template <typename Floats>
  Complex<Floats>* scratch() const {
    return data<Floats>() + n_;
  }
  template <typename Floats>
  Floats* more() const {
    return reinterpret_cast<Floats*>(data<Floats>() + 2 * n_);
  }

 private:
  int64_t n_;
  std::span<std::byte> bytes_;
};

// Transforms the windowed frames first .. first + 31 of x; returns the array of `t` that holds the
// result.
template <typename Floats>
HUM_INLINE Complex<Floats>* transform_frames(const Frames& f, const float* x, int64_t first,
                                             const TransformScratch& t) {
  auto* data = t.data<Floats>();
  GroupRows rows;
  group_rows(f, first, f.hop, rows);
  for (int64_t i = 0; i < f.n; i += simd::kLanes) {
    const int64_t count = std::min(f.n - i, simd::kLanes);
    Floats a[simd::kLanes], b[simd::kLanes];
    load_rows(x, rows.a, i, count, a);
    load_rows(x, rows.b, i, count, b);
    for (int64_t l = 0; l < count; ++l) {
      data[i + l] = {a[l] * f.window[i + l], b[l] * f.window[i + l]};
    }
  }
  return lane_fft(*f.plan, data, t.scratch<Floats>());
}

// Spectra of a group's two sets at one bin.
template <typename Floats>
struct BinPair {
  Complex<Floats> a, b;
};
// z = A + iB with A[n-k] = conj A[k] and B likewise, for real signals.
template <typename Floats>
HUM_INLINE BinPair<Floats> bin_pair(const Frames& f, const Complex<Floats>* z, int64_t bin) {
  const Complex<Floats> p = z[bin], q = z[bin == 0 ? 0 : f.n - bin];
  return {{(p.re + q.re) * 0.5F, (p.im - q.im) * 0.5F},
          {(p.im + q.im) * 0.5F, (q.re - p.re) * 0.5F}};
}

// The real signal of bins G[k] is the inverse transform of their Hermitian half H: H[k] = G[k]/2,
// H[n-k] = conj(G[k])/2. Two signals at once: H_A + i H_B. Real and imaginary parts are swapped,
// here and in add_frames, which makes the forward transform an inverse one.
template <typename Floats>
HUM_INLINE void set_bin_pair(const Frames& f, Complex<Floats>* data, int64_t bin,
                             const BinPair<Floats>& g) {
  if (bin == 0 || 2 * bin == f.n) {
    data[bin] = {g.b.re, g.a.re};
    return;
  }
  data[bin] = {(g.a.im + g.b.re) * 0.5F, (g.a.re - g.b.im) * 0.5F};
  data[f.n - bin] = {(g.b.re - g.a.im) * 0.5F, (g.a.re + g.b.im) * 0.5F};
}

// Adds the windowed signals of transformed bin pairs to frames first .. first + 31 of x.
template <typename Floats>
HUM_INLINE void add_frames(const Frames& f, const Complex<Floats>* z, float* x, int64_t first) {
  const int64_t lanes = std::min(f.count - first, kFrameGroup);
  for (int64_t i = 0; i < f.n; i += simd::kLanes) {
    const int64_t count = std::min(f.n - i, simd::kLanes);
    Floats a[simd::kLanes], b[simd::kLanes];
    for (int64_t l = 0; l < simd::kLanes; ++l) {
      const int64_t at = std::min(i + l, f.n - 1);
      a[l] = z[at].im * f.window[at];
      b[l] = z[at].re * f.window[at];
    }
    simd::transpose(a);
    simd::transpose(b);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      float* to = x + (first + lane) * f.hop + i;
      const Floats add = lane < simd::kLanes ? a[lane] : b[lane - simd::kLanes];
      simd::store(to, simd::load<Floats>(to, count) + add, count);
    }
  }
}

// Stores elements at .. at + count - 1 of a group's rows from vectors across frames.
template <typename Floats>
HUM_INLINE void store_rows(const Frames& f, Floats (&a)[simd::kLanes], Floats (&b)[simd::kLanes],
                           float* to, int64_t stride, int64_t first, int64_t at, int64_t count) {
  simd::transpose(a);
  simd::transpose(b);
  const int64_t lanes = std::min(f.count - first, kFrameGroup);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const Floats row = lane < simd::kLanes ? a[lane] : b[lane - simd::kLanes];
    simd::store(to + (first + lane) * stride + at, row, count);
  }
}

// `count` frames of the window's length, one per hop, in a waveform.
inline Frames frames_of(int64_t samples, int64_t count, std::span<const float> window,
                        int64_t hop) {
  const auto n = std::ssize(window);
  return {&lane_fft_plan(n), window.data(), n, n / 2 + 1, hop, count, samples};
}

}  // namespace hum::kernels
