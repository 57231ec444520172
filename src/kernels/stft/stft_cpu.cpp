#include <algorithm>
#include <span>

#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/stft/lane_fft.h"
#include "kernels/stft/stft_call.h"

namespace hum::kernels {
namespace {

using simd::Floats;
using simd::kLanes;

// A group is two sets of sixteen frames of one waveform: the first set rides in the real parts of
// a complex transform, the second in the imaginary parts.
constexpr int64_t kGroup = 2 * kLanes;

struct Stft {
  const FftPlan* plan = nullptr;
  const float* window = nullptr;
  int64_t n = 0, bins = 0, hop = 0, frames = 0, samples = 0;
};

// Where lane `lane` of a set starts; lanes past the end repeat the last frame.
HUM_INLINE int64_t lane_frame(const Stft& s, int64_t first, int64_t lane) {
  return std::min(first + lane, s.frames - 1);
}

// Elements at .. at + 15 of sixteen rows, as sixteen vectors over rows. row(lane) is its start.
HUM_INLINE void load_rows(const float* base, const int64_t* rows, int64_t at, int64_t count,
                          Floats (&block)[kLanes]) {
#pragma GCC unroll 16
  for (int lane = 0; lane < kLanes; ++lane) {
    block[lane] = simd::load(base + rows[lane] + at, count);
  }
  simd::transpose(block);
}

HUM_INLINE void frame_rows(const Stft& s, int64_t first, int64_t stride, int64_t* rows) {
  for (int64_t lane = 0; lane < kLanes; ++lane) rows[lane] = lane_frame(s, first, lane) * stride;
}

// Spectra of frames first .. first + 31 of x. data, scratch: n each.
HUM_INLINE void forward_body(const Stft& s, const float* x, float* real, float* imag, int64_t first,
                             Complex* data, Complex* scratch) {
  int64_t rows_a[kLanes], rows_b[kLanes];
  frame_rows(s, first, s.hop, rows_a);
  frame_rows(s, first + kLanes, s.hop, rows_b);
  for (int64_t i = 0; i < s.n; i += kLanes) {
    const int64_t count = std::min(s.n - i, kLanes);
    Floats a[kLanes], b[kLanes];
    load_rows(x, rows_a, i, count, a);
    load_rows(x, rows_b, i, count, b);
    for (int64_t l = 0; l < count; ++l)
      data[i + l] = {a[l] * s.window[i + l], b[l] * s.window[i + l]};
  }
  const Complex* z = lane_fft(*s.plan, data, scratch);

  // z = A + iB with A[n-k] = conj A[k] and B likewise, for real A and B signals.
  const int64_t lanes_a = std::min(s.frames - first, kLanes);
  const int64_t lanes_b = std::min(s.frames - first - kLanes, kLanes);
  for (int64_t k = 0; k < s.bins; k += kLanes) {
    const int64_t count = std::min(s.bins - k, kLanes);
    Floats parts[4][kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t bin = std::min(k + l, s.bins - 1);
      const Complex p = z[bin], q = z[bin == 0 ? 0 : s.n - bin];
      parts[0][l] = (p.re + q.re) * 0.5F;
      parts[1][l] = (p.im - q.im) * 0.5F;
      parts[2][l] = (p.im + q.im) * 0.5F;
      parts[3][l] = (q.re - p.re) * 0.5F;
    }
    for (auto& part : parts) simd::transpose(part);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t to_a = (first + lane) * s.bins + k, to_b = to_a + kLanes * s.bins;
      if (lane < lanes_a) {
        simd::store(real + to_a, parts[0][lane], count);
        simd::store(imag + to_a, parts[1][lane], count);
      }
      if (lane < lanes_b) {
        simd::store(real + to_b, parts[2][lane], count);
        simd::store(imag + to_b, parts[3][lane], count);
      }
    }
  }
}

// Adds window * (adjoint or inverse transform) of frames first .. first + 31 to x. weights: what
// each bin counts.
HUM_INLINE void backward_body(const Stft& s, const float* real, const float* imag,
                              const float* weights, float* x, int64_t first, Complex* data,
                              Complex* scratch) {
  int64_t rows_a[kLanes], rows_b[kLanes];
  frame_rows(s, first, s.bins, rows_a);
  frame_rows(s, first + kLanes, s.bins, rows_b);
  // The real signal of bins G[k] is the inverse transform of their Hermitian half H: H[k] = G[k]/2,
  // H[n-k] = conj(G[k])/2. Two signals at once: H_A + i H_B. Real and imaginary parts are swapped,
  // before and after, which makes the forward transform an inverse one.
  for (int64_t k = 0; k < s.bins; k += kLanes) {
    const int64_t count = std::min(s.bins - k, kLanes);
    Floats ar[kLanes], ai[kLanes], br[kLanes], bi[kLanes];
    load_rows(real, rows_a, k, count, ar);
    load_rows(imag, rows_a, k, count, ai);
    load_rows(real, rows_b, k, count, br);
    load_rows(imag, rows_b, k, count, bi);
    for (int64_t l = 0; l < count; ++l) {
      const int64_t bin = k + l;
      const float w = weights[bin];
      if (bin == 0 || 2 * bin == s.n) {
        data[bin] = {br[l] * w, ar[l] * w};
        continue;
      }
      const float half = 0.5F * w;
      data[bin] = {(ai[l] + br[l]) * half, (ar[l] - bi[l]) * half};
      data[s.n - bin] = {(br[l] - ai[l]) * half, (ar[l] + bi[l]) * half};
    }
  }
  const Complex* z = lane_fft(*s.plan, data, scratch);

  const int64_t lanes = std::min(s.frames - first, kGroup);
  for (int64_t i = 0; i < s.n; i += kLanes) {
    const int64_t count = std::min(s.n - i, kLanes);
    Floats a[kLanes], b[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t at = std::min(i + l, s.n - 1);
      a[l] = z[at].im * s.window[at];
      b[l] = z[at].re * s.window[at];
    }
    simd::transpose(a);
    simd::transpose(b);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      float* to = x + (first + lane) * s.hop + i;
      simd::store(to, simd::load(to, count) + (lane < kLanes ? a[lane] : b[lane - kLanes]), count);
    }
  }
}

HUM_SIMD_FUNCTION(forward,
                  (const Stft& s, const float* x, float* real, float* imag, int64_t first,
                   Complex* data, Complex* scratch),
                  (s, x, real, imag, first, data, scratch))
HUM_SIMD_FUNCTION(backward,
                  (const Stft& s, const float* real, const float* imag, const float* weights,
                   float* x, int64_t first, Complex* data, Complex* scratch),
                  (s, real, imag, weights, x, first, data, scratch))

// Two arrays of n for a transform on this thread.
std::pair<Complex*, Complex*> transform_scratch(int64_t n) {
  const auto bytes = thread_scratch(2 * static_cast<size_t>(n) * sizeof(Complex));
  auto* data = reinterpret_cast<Complex*>(bytes.data());
  return {data, data + n};
}

Stft problem(int64_t samples, int64_t frames, std::span<const float> window, int64_t hop) {
  Stft s;
  s.n = static_cast<int64_t>(window.size());
  s.plan = &lane_fft_plan(s.n);
  s.window = window.data();
  s.bins = s.n / 2 + 1;
  s.hop = hop;
  s.frames = frames;
  s.samples = samples;
  return s;
}

void stft_handler(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0);
  const auto real = call.result(0), imag = call.result(1);
  const Stft s = problem(x.size(1), real.size(1), call.argument(1).as<const float>(),
                         call.attributes().integer("hop"));
  const float* from = x.as<const float>().data();
  float *to_real = real.as<float>().data(), *to_imag = imag.as<float>().data();
  const int64_t groups = (s.frames + kGroup - 1) / kGroup;
  CallWorkers workers(call);
  for_each_range(workers, x.size(0) * groups, 1, [&](int64_t begin, int64_t end) {
    const auto [data, scratch] = transform_scratch(s.n);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / groups, out = row * s.frames * s.bins;
      forward(s, from + row * s.samples, to_real + out, to_imag + out, (i % groups) * kGroup, data,
              scratch);
    }
  });
}

void stft_adjoint_handler(const pjrt::ffi::Call& call) {
  const auto real = call.argument(0), x = call.result(0);
  const Stft s = problem(x.size(1), real.size(1), call.argument(2).as<const float>(),
                         call.attributes().integer("hop"));
  std::vector<float> weights(static_cast<size_t>(s.bins), 1.0F);
  if (call.attributes().flag("inverse")) {
    const float once = 1.0F / static_cast<float>(s.n);
    std::ranges::fill(weights, 2 * once);
    weights[0] = once;
    if (s.n % 2 == 0) weights.back() = once;
  }
  const float *from_real = real.as<const float>().data(),
              *from_imag = call.argument(1).as<const float>().data();
  float* to = x.as<float>().data();
  CallWorkers workers(call);
  for_each_range(workers, x.size(0), 1, [&](int64_t begin, int64_t end) {
    const auto [data, scratch] = transform_scratch(s.n);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t from = row * s.frames * s.bins;
      std::fill_n(to + row * s.samples, s.samples, 0.0F);
      for (int64_t first = 0; first < s.frames; first += kGroup) {
        backward(s, from_real + from, from_imag + from, weights.data(), to + row * s.samples, first,
                 data, scratch);
      }
    }
  });
}

}  // namespace

const pjrt::KernelRow kStftRow = {"hum.stft", 1, &pjrt::ffi::handler<stft_handler>};
const pjrt::KernelRow kStftAdjointRow = {"hum.stft_adjoint", 1,
                                         &pjrt::ffi::handler<stft_adjoint_handler>};

bool stft_available(const graph::Node& node) {
  constexpr int64_t kLeastElements = 4096;
  const int64_t n = node.inputs().back().size(0);
  return chosen_isa() >= Isa::kAvx2 && has_lane_fft(n) && n >= 4 &&
         node.input(0).shape().elements() >= kLeastElements;
}

}  // namespace hum::kernels
