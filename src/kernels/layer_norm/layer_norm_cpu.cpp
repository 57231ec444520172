#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/row_kernel.h"
#include "kernels/row_sums.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

struct RowStatistics {
  float mean = 0;
  float scale = 1;  // 1 / sqrt(variance + epsilon)
};

// `row` is the row in f32, in cache. Two passes, so that a large mean does not cost precision.
template <typename Floats>
HUM_INLINE RowStatistics statistics(const float* row, int64_t columns, float epsilon, bool rms) {
  const float inverse = 1.0F / static_cast<float>(columns);
  RowStatistics result;
  if (!rms) {
    Floats total{};
    for (int64_t c = 0; c < columns; c += kLanes) total += simd::load<Floats>(row + c, columns - c);
    result.mean = simd::sum(total) * inverse;
  }
  Floats power{};
  for (int64_t c = 0; c < columns; c += kLanes) {
    const Floats x =
        simd::keep(simd::load<Floats>(row + c, columns - c) - result.mean, columns - c);
    power += x * x;
  }
  result.scale = 1.0F / std::sqrt(simd::sum(power) * inverse + epsilon);
  return result;
}

template <typename Floats, typename T>
HUM_INLINE void widen(const T* from, float* to, int64_t columns) {
  for (int64_t c = 0; c < columns; c += kLanes) {
    simd::store(to + c, simd::load<Floats>(from + c, columns - c), columns - c);
  }
}

// row: room for `columns` floats.
template <typename Floats, typename T>
HUM_INLINE void forward_body(const T* x, const float* scale, const float* bias, T* y, float* row,
                             int64_t rows, int64_t columns, float epsilon, bool rms) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    widen<Floats>(x, row, columns);
    const RowStatistics s = statistics<Floats>(row, columns, epsilon, rms);
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      const Floats normal = (simd::load<Floats>(row + c, left) - s.mean) * s.scale;
      simd::store(y + c,
                  normal * simd::load<Floats>(scale + c, left) + simd::load<Floats>(bias + c, left),
                  left);
    }
  }
}

// With n = (x - mean) * s and g = dy * scale: dx = s (g - mean(g) - n mean(g n)), without mean(g)
// in the rms form. Adds to sums: dscale = sum over rows of dy n, then dbias = sum of dy.
template <typename Floats, typename T>
HUM_INLINE void backward_body(const T* x, const float* scale, const T* dy, T* dx, float* sums,
                              float* row, int64_t rows, int64_t columns, float epsilon, bool rms) {
  const float inverse = 1.0F / static_cast<float>(columns);
  float* dscale = sums;
  float* dbias = sums + columns;
  for (int64_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    widen<Floats>(x, row, columns);
    const RowStatistics s = statistics<Floats>(row, columns, epsilon, rms);
    Floats total{}, product{};
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      const Floats normal = (simd::load<Floats>(row + c, left) - s.mean) * s.scale;
      const Floats d = simd::load<Floats>(dy + c, left);
      const Floats g = d * simd::load<Floats>(scale + c, left);
      simd::store(dscale + c, simd::load<Floats>(dscale + c, left) + d * normal, left);
      simd::store(dbias + c, simd::load<Floats>(dbias + c, left) + d, left);
      simd::store(row + c, normal, left);
      total += g;
      product += g * normal;
    }
    const float mean_g = rms ? 0.0F : simd::sum(total) * inverse;
    const float mean_product = simd::sum(product) * inverse;
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      const Floats g = simd::load<Floats>(dy + c, left) * simd::load<Floats>(scale + c, left);
      const Floats d = (g - mean_g - simd::load<Floats>(row + c, left) * mean_product) * s.scale;
      simd::store(dx + c, d, left);
    }
  }
}

#define HUM_LAYER_NORM(T)                                                                         \
  HUM_SIMD_FUNCTION(forward,                                                                      \
                    (const T* x, const float* scale, const float* bias, T* y, float* row,         \
                     int64_t rows, int64_t columns, float epsilon, bool rms),                     \
                    (x, scale, bias, y, row, rows, columns, epsilon, rms))                        \
  HUM_SIMD_FUNCTION(backward,                                                                     \
                    (const T* x, const float* scale, const T* dy, T* dx, float* sums, float* row, \
                     int64_t rows, int64_t columns, float epsilon, bool rms),                     \
                    (x, scale, dy, dx, sums, row, rows, columns, epsilon, rms))
HUM_LAYER_NORM(float)
HUM_LAYER_NORM(uint16_t)
#undef HUM_LAYER_NORM

float* row_scratch(int64_t columns) {
  return reinterpret_cast<float*>(
      thread_scratch(static_cast<size_t>(columns) * sizeof(float)).data());
}

struct Problem {
  explicit Problem(const pjrt::ffi::Call& call)
      : columns(call.argument(1).elements()),
        rows(call.argument(0).elements() / columns),
        epsilon(static_cast<float>(call.attributes().real("epsilon"))),
        rms(call.attributes().flag("rms")) {}
  int64_t columns, rows;
  float epsilon;
  bool rms;
};

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const Problem p(call);
  const auto x = call.argument(0).as<const T>();
  const auto scale = call.argument(1).as<const float>(), bias = call.argument(2).as<const float>();
  const auto y = call.result(0).template as<T>();
  for_each_rows(call, std::ssize(x), p.columns, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * p.columns;
    forward(x.data() + at, scale.data(), bias.data(), y.data() + at, row_scratch(p.columns),
            end - begin, p.columns, p.epsilon, p.rms);
  });
}

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const Problem p(call);
  const auto x = call.argument(0).as<const T>(), dy = call.argument(2).as<const T>();
  const auto scale = call.argument(1).as<const float>();
  const auto dx = call.result(0).template as<T>();
  const auto dscale = call.result(1).template as<float>();
  const auto dbias = call.result(2).template as<float>();
  std::vector<float> sums(static_cast<size_t>(2 * p.columns));
  CallWorkers workers(call);
  sum_over_rows(workers, p.rows, 2 * p.columns, sums.data(),
                [&](int64_t begin, int64_t end, float* part) {
                  const int64_t at = begin * p.columns;
                  backward(x.data() + at, scale.data(), dy.data() + at, dx.data() + at, part,
                           row_scratch(p.columns), end - begin, p.columns, p.epsilon, p.rms);
                });
  std::copy_n(sums.data(), p.columns, dscale.data());
  std::copy_n(sums.data() + p.columns, p.columns, dbias.data());
}

}  // namespace

const Kernel kLayerNormKernel = {
    {"hum.layer_norm", 1, &pjrt::ffi::handler<by_dtype<run_forward<float>, run_forward<uint16_t>>>},
    worth_a_row_kernel};
const Kernel kLayerNormGradKernel = {
    {"hum.layer_norm_grad", 1,
     &pjrt::ffi::handler<by_dtype<run_backward<float>, run_backward<uint16_t>>>},
    worth_a_row_kernel};

}  // namespace hum::kernels
