#include <algorithm>

#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/mel_spectrum/mel_spectrum.h"
#include "kernels/simd_math.h"
#include "kernels/stft/lane_frames.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

struct Mel {
  Frames frames;
  const int32_t* first = nullptr;  // [bins]
  const float* weights = nullptr;  // [bins, 2]
  int64_t bands = 0;
  float epsilon = 0;

  // Bands of both sets of a group, and padding to fill whole vectors.
  int64_t group_vectors() const { return 2 * (bands + kLanes); }
};

template <typename Floats>
HUM_INLINE Floats magnitude_of(const Complex<Floats>& x, float epsilon) {
  return simd::square_root(x.re * x.re + x.im * x.im + epsilon * epsilon);
}

// Frames first .. first + 31 of x; magnitude may be null.
template <typename Floats>
HUM_INLINE void forward_body(const Mel& mel, const float* x, float* bands, float* magnitude,
                             int64_t first, const TransformScratch& t) {
  const Frames& f = mel.frames;
  const Complex<Floats>* z = transform_frames<Floats>(f, x, first, t);
  auto* sums = t.more<Floats>();  // bands of the group's two sets, interleaved
  for (int64_t i = 0; i < mel.group_vectors(); ++i) sums[i] = Floats{};
  for (int64_t k = 0; k < f.bins; k += kLanes) {
    const int64_t count = std::min(f.bins - k, kLanes);
    Floats a[kLanes] = {}, b[kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      const BinPair<Floats> pair = bin_pair(f, z, k + l);
      a[l] = magnitude_of(pair.a, mel.epsilon);
      b[l] = magnitude_of(pair.b, mel.epsilon);
      Floats* band = sums + 2 * mel.first[k + l];
      const float* w = mel.weights + 2 * (k + l);
      band[0] += a[l] * w[0];
      band[1] += b[l] * w[0];
      band[2] += a[l] * w[1];
      band[3] += b[l] * w[1];
    }
    if (magnitude != nullptr) store_rows(f, a, b, magnitude, f.bins, first, k, count);
  }
  for (int64_t k = 0; k < mel.bands; k += kLanes) {
    Floats a[kLanes], b[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
      a[l] = sums[2 * (k + l)];
      b[l] = sums[2 * (k + l) + 1];
    }
    store_rows(f, a, b, bands, mel.bands, first, k, std::min(mel.bands - k, kLanes));
  }
}

// Cotangents of a waveform's bands and magnitudes; the second may be null.
struct Cotangents {
  const float *bands, *magnitude;
};

template <typename Floats>
HUM_INLINE void load_band_gradients(const Mel& mel, const float* dbands, int64_t first,
                                    Floats* to) {
  GroupRows rows;
  group_rows(mel.frames, first, mel.bands, rows);
  for (int64_t k = 0; k < mel.bands; k += kLanes) {
    const int64_t count = std::min(mel.bands - k, kLanes);
    Floats a[kLanes], b[kLanes];
    load_rows(dbands, rows.a, k, count, a);
    load_rows(dbands, rows.b, k, count, b);
    for (int64_t l = 0; l < kLanes; ++l) {
      to[2 * (k + l)] = a[l];
      to[2 * (k + l) + 1] = b[l];
    }
  }
}

// Adds the gradient of frames first .. first + 31 to dx.
template <typename Floats>
HUM_INLINE void backward_body(const Mel& mel, const float* x, Cotangents d, float* dx,
                              int64_t first, const TransformScratch& t) {
  const Frames& f = mel.frames;
  auto* gradients = t.more<Floats>();
  load_band_gradients(mel, d.bands, first, gradients);
  GroupRows rows;
  group_rows(f, first, f.bins, rows);
  Complex<Floats>* z = transform_frames<Floats>(f, x, first, t);
  for (int64_t k = 0; k < f.bins; k += kLanes) {
    const int64_t count = std::min(f.bins - k, kLanes);
    Floats a[kLanes] = {}, b[kLanes] = {};
    if (d.magnitude != nullptr) {
      load_rows(d.magnitude, rows.a, k, count, a);
      load_rows(d.magnitude, rows.b, k, count, b);
    }
    for (int64_t l = 0; l < count; ++l) {
      const BinPair<Floats> pair = bin_pair(f, z, k + l);
      const Floats* band = gradients + 2 * mel.first[k + l];
      const float* w = mel.weights + 2 * (k + l);
      const Floats by_a =
                       (a[l] + band[0] * w[0] + band[2] * w[1]) / magnitude_of(pair.a, mel.epsilon),
                   by_b =
                       (b[l] + band[1] * w[0] + band[3] * w[1]) / magnitude_of(pair.b, mel.epsilon);
      // In place: a bin pair depends only on itself.
      set_bin_pair<Floats>(
          f, z, k + l,
          {{pair.a.re * by_a, pair.a.im * by_a}, {pair.b.re * by_b, pair.b.im * by_b}});
    }
  }
  auto* other = z == t.data<Floats>() ? t.scratch<Floats>() : t.data<Floats>();
  add_frames(f, lane_fft(*f.plan, z, other), dx, first);
}

HUM_SIMD_FUNCTION(forward,
                  (const Mel& mel, const float* x, float* bands, float* magnitude, int64_t first,
                   const TransformScratch& t),
                  (mel, x, bands, magnitude, first, t))
HUM_SIMD_FUNCTION(backward,
                  (const Mel& mel, const float* x, Cotangents d, float* dx, int64_t first,
                   const TransformScratch& t),
                  (mel, x, d, dx, first, t))

// `bands`: an array of one row of bands per frame.
Mel problem(const pjrt::ffi::Call& call, const pjrt::ffi::Array& bands) {
  const auto x = call.argument(0);
  const Frames frames = frames_of(x.size(1), bands.size(1), call.argument(1).as<const float>(),
                                  call.attributes().integer("hop"));
  return {frames, call.argument(2).as<const int32_t>().data(),
          call.argument(3).as<const float>().data(), bands.size(2),
          static_cast<float>(call.attributes().real("epsilon"))};
}

void mel_spectrum_handler(const pjrt::ffi::Call& call) {
  const Mel mel = problem(call, call.result(0));
  const Frames& f = mel.frames;
  const float* x = call.argument(0).as<const float>().data();
  float* bands = call.result(0).as<float>().data();
  float* magnitude = call.result_count() > 1 ? call.result(1).as<float>().data() : nullptr;
  const int64_t groups = (f.count + kFrameGroup - 1) / kFrameGroup;
  CallWorkers workers(call);
  for_each_range(workers, call.argument(0).size(0) * groups, 1, [&](int64_t begin, int64_t end) {
    const TransformScratch t(f.n, mel.group_vectors());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / groups, at = row * f.count;
      forward(mel, x + row * f.samples, bands + at * mel.bands,
              magnitude == nullptr ? nullptr : magnitude + at * f.bins, i % groups * kFrameGroup,
              t);
    }
  });
}

void mel_spectrum_grad_handler(const pjrt::ffi::Call& call) {
  const Mel mel = problem(call, call.argument(4));
  const Frames& f = mel.frames;
  const float* x = call.argument(0).as<const float>().data();
  const float* dbands = call.argument(4).as<const float>().data();
  const float* dmagnitude =
      call.argument_count() > 5 ? call.argument(5).as<const float>().data() : nullptr;
  float* dx = call.result(0).as<float>().data();
  CallWorkers workers(call);
  for_each_range(workers, call.argument(0).size(0), 1, [&](int64_t begin, int64_t end) {
    const TransformScratch t(f.n, mel.group_vectors());
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * f.count;
      const Cotangents d{dbands + at * mel.bands,
                         dmagnitude == nullptr ? nullptr : dmagnitude + at * f.bins};
      std::fill_n(dx + row * f.samples, f.samples, 0.0F);
      for (int64_t first = 0; first < f.count; first += kFrameGroup) {
        backward(mel, x + row * f.samples, d, dx + row * f.samples, first, t);
      }
    }
  });
}

bool mel_spectrum_available(const graph::Node& node) {
  constexpr int64_t kLeastElements = 4096;
  const int64_t n = node.input(1).size(0);
  return chosen_isa() >= Isa::kAvx2 && has_lane_fft(n) && n >= 4 &&
         node.input(0).shape().elements() >= kLeastElements;
}

}  // namespace

const Kernel kMelSpectrumKernel = {
    {"hum.mel_spectrum", 1, &pjrt::ffi::handler<mel_spectrum_handler>}, mel_spectrum_available};
const Kernel kMelSpectrumGradKernel = {
    {"hum.mel_spectrum_grad", 1, &pjrt::ffi::handler<mel_spectrum_grad_handler>},
    mel_spectrum_available};

}  // namespace hum::kernels
