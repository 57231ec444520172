#include <iterator>

#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/row_kernel.h"
#include "kernels/row_sums.h"
#include "kernels/simd_math.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

constexpr float kSlope = 1.5957691216F;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

// gelu(x) = x s with s = logistic(2 sqrt(2/pi) (x + 0.044715 x^3)), which is (1 + tanh(...)) / 2.
template <typename Floats>
HUM_INLINE Floats gate(Floats x) {
  const Floats u = x * (kSlope + (kSlope * kCubic) * (x * x));
  return 1.0F / (1.0F + simd::exponential(-u));
}

template <typename Floats>
HUM_INLINE Floats gelu(Floats x) {
  // Below -20 the gate is negligible in f32; the clamp keeps it so for a huge |x|.
  return simd::select(x < -20.0F, simd::broadcast<Floats>(-20.0F), x) * gate(x);
}

template <typename Floats>
HUM_INLINE Floats gelu_slope(Floats x) {
  // Beyond 10 the slope is 0 or 1, and x^3 must not overflow. NaN passes through.
  x = simd::select(x < -10.0F, simd::broadcast<Floats>(-10.0F), x);
  x = simd::select(x > 10.0F, simd::broadcast<Floats>(10.0F), x);
  const Floats s = gate(x);
  const Floats du = kSlope + (3 * kSlope * kCubic) * (x * x);
  return s + x * s * (1.0F - s) * du;
}

template <typename Floats, typename T>
HUM_INLINE void forward_body(const T* x, const float* bias, T* y, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      const Floats in = simd::load<Floats>(x + c, left) + simd::load<Floats>(bias + c, left);
      simd::store(y + c, gelu(in), left);
    }
  }
}

// Adds the sums over these rows to dbias.
template <typename Floats, typename T>
HUM_INLINE void backward_body(const T* x, const float* bias, const T* dy, T* dx, float* dbias,
                              int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      const Floats in = simd::load<Floats>(x + c, left) + simd::load<Floats>(bias + c, left);
      const Floats gradient = simd::load<Floats>(dy + c, left) * gelu_slope(in);
      simd::store(dx + c, gradient, left);
      simd::store(dbias + c, simd::load<Floats>(dbias + c, left) + gradient, left);
    }
  }
}

#define HUM_BIAS_GELU(T)                                                                           \
  HUM_SIMD_FUNCTION(forward, (const T* x, const float* bias, T* y, int64_t rows, int64_t columns), \
                    (x, bias, y, rows, columns))                                                   \
  HUM_SIMD_FUNCTION(backward,                                                                      \
                    (const T* x, const float* bias, const T* dy, T* dx, float* dbias,              \
                     int64_t rows, int64_t columns),                                               \
                    (x, bias, dy, dx, dbias, rows, columns))
HUM_BIAS_GELU(float)
HUM_BIAS_GELU(uint16_t)
#undef HUM_BIAS_GELU

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0).as<const T>();
  const auto bias = call.argument(1).as<const float>();
  const auto y = call.result(0).template as<T>();
  const int64_t columns = std::ssize(bias);
  for_each_rows(call, std::ssize(x), columns, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * columns;
    forward(x.data() + at, bias.data(), y.data() + at, end - begin, columns);
  });
}

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0).as<const T>();
  const auto bias = call.argument(1).as<const float>();
  const auto dy = call.argument(2).as<const T>();
  const auto dx = call.result(0).template as<T>();
  const auto dbias = call.result(1).template as<float>();
  const int64_t columns = std::ssize(bias);
  const int64_t rows = columns > 0 ? std::ssize(x) / columns : 0;
  CallWorkers workers(call);
  sum_over_rows(workers, rows, columns, dbias.data(), [&](int64_t begin, int64_t end, float* sums) {
    const int64_t at = begin * columns;
    backward(x.data() + at, bias.data(), dy.data() + at, dx.data() + at, sums, end - begin,
             columns);
  });
}

}  // namespace

const Kernel kBiasGeluKernel = {
    {"hum.bias_gelu", 1, &pjrt::ffi::handler<by_dtype<run_forward<float>, run_forward<uint16_t>>>},
    worth_a_row_kernel};
const Kernel kBiasGeluGradKernel = {
    {"hum.bias_gelu_grad", 1,
     &pjrt::ffi::handler<by_dtype<run_backward<float>, run_backward<uint16_t>>>},
    worth_a_row_kernel};

}  // namespace hum::kernels
