#include <algorithm>
#include <span>

#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/stft/lane_frames.h"
#include "kernels/stft/stft.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Spectra of frames first .. first + 31 of x.
template <typename Floats>
HUM_INLINE void forward_body(const Frames& f, const float* x, float* real, float* imag,
                             int64_t first, const TransformScratch& t) {
  const Complex<Floats>* z = transform_frames<Floats>(f, x, first, t);
  for (int64_t k = 0; k < f.bins; k += kLanes) {
    const int64_t count = std::min(f.bins - k, kLanes);
    Floats real_a[kLanes], imag_a[kLanes], real_b[kLanes], imag_b[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
      const BinPair<Floats> pair = bin_pair(f, z, std::min(k + l, f.bins - 1));
      real_a[l] = pair.a.re;
      imag_a[l] = pair.a.im;
      real_b[l] = pair.b.re;
      imag_b[l] = pair.b.im;
    }
    store_rows(f, real_a, real_b, real, f.bins, first, k, count);
    store_rows(f, imag_a, imag_b, imag, f.bins, first, k, count);
  }
}

// Adds window * (adjoint or inverse transform) of frames first .. first + 31 to x. weights: one per
// bin.
template <typename Floats>
HUM_INLINE void backward_body(const Frames& f, const float* real, const float* imag,
                              const float* weights, float* x, int64_t first,
                              const TransformScratch& t) {
  auto* data = t.data<Floats>();
  GroupRows rows;
  group_rows(f, first, f.bins, rows);
  for (int64_t k = 0; k < f.bins; k += kLanes) {
    const int64_t count = std::min(f.bins - k, kLanes);
    Floats ar[kLanes], ai[kLanes], br[kLanes], bi[kLanes];
    load_rows(real, rows.a, k, count, ar);
    load_rows(imag, rows.a, k, count, ai);
    load_rows(real, rows.b, k, count, br);
    load_rows(imag, rows.b, k, count, bi);
    for (int64_t l = 0; l < count; ++l) {
      const float w = weights[k + l];
      set_bin_pair<Floats>(f, data, k + l, {{ar[l] * w, ai[l] * w}, {br[l] * w, bi[l] * w}});
    }
  }
  add_frames(f, lane_fft(*f.plan, data, t.scratch<Floats>()), x, first);
}

HUM_SIMD_FUNCTION(forward,
                  (const Frames& f, const float* x, float* real, float* imag, int64_t first,
                   const TransformScratch& t),
                  (f, x, real, imag, first, t))
HUM_SIMD_FUNCTION(backward,
                  (const Frames& f, const float* real, const float* imag, const float* weights,
                   float* x, int64_t first, const TransformScratch& t),
                  (f, real, imag, weights, x, first, t))

void stft_handler(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0);
  const auto real = call.result(0), imag = call.result(1);
  const Frames f = frames_of(x.size(1), real.size(1), call.argument(1).as<const float>(),
                             call.attributes().integer("hop"));
  const float* from = x.as<const float>().data();
  float *to_real = real.as<float>().data(), *to_imag = imag.as<float>().data();
  const int64_t groups = (f.count + kFrameGroup - 1) / kFrameGroup;
  CallWorkers workers(call);
  for_each_range(workers, x.size(0) * groups, 1, [&](int64_t begin, int64_t end) {
    const TransformScratch t(f.n);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / groups, out = row * f.count * f.bins;
      forward(f, from + row * f.samples, to_real + out, to_imag + out, (i % groups) * kFrameGroup,
              t);
    }
  });
}

void stft_adjoint_handler(const pjrt::ffi::Call& call) {
  const auto real = call.argument(0), x = call.result(0);
  const Frames f = frames_of(x.size(1), real.size(1), call.argument(2).as<const float>(),
                             call.attributes().integer("hop"));
  std::vector<float> weights(static_cast<size_t>(f.bins), 1.0F);
  if (call.attributes().flag("inverse")) {
    const float once = 1.0F / static_cast<float>(f.n);
    std::ranges::fill(weights, 2 * once);
    weights[0] = once;
    if (f.n % 2 == 0) weights.back() = once;
  }
  const float *from_real = real.as<const float>().data(),
              *from_imag = call.argument(1).as<const float>().data();
  float* to = x.as<float>().data();
  CallWorkers workers(call);
  for_each_range(workers, x.size(0), 1, [&](int64_t begin, int64_t end) {
    const TransformScratch t(f.n);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t from = row * f.count * f.bins;
      std::fill_n(to + row * f.samples, f.samples, 0.0F);
      for (int64_t first = 0; first < f.count; first += kFrameGroup) {
        backward(f, from_real + from, from_imag + from, weights.data(), to + row * f.samples, first,
                 t);
      }
    }
  });
}

bool stft_available(const graph::Node& node) {
  constexpr int64_t kLeastElements = 4096;
  const int64_t n = node.inputs().back().size(0);
  return chosen_isa() >= Isa::kAvx2 && has_lane_fft(n) && n >= 4 &&
         node.input(0).shape().elements() >= kLeastElements;
}

}  // namespace

const Kernel kStftKernel = {{"hum.stft", 1, &pjrt::ffi::handler<stft_handler>}, stft_available};
const Kernel kStftAdjointKernel = {
    {"hum.stft_adjoint", 1, &pjrt::ffi::handler<stft_adjoint_handler>}, stft_available};

}  // namespace hum::kernels
