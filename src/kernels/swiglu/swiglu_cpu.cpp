#include "kernels/row_kernel.h"
#include "kernels/simd_math.h"
#include "kernels/swiglu/swiglu.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

template <typename Floats>
HUM_INLINE Floats logistic(Floats x) {
  return 1.0F / (1.0F + simd::exponential(-x));
}

template <typename Floats, typename T>
HUM_INLINE void forward_body(const T* gate, const T* up, T* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t left = count - i;
    const Floats g = simd::load<Floats>(gate + i, left);
    simd::store(y + i, g * logistic(g) * simd::load<Floats>(up + i, left), left);
  }
}

// d silu(g) = s (1 + g (1 - s)) with s = logistic(g).
template <typename Floats, typename T>
HUM_INLINE void backward_body(const T* gate, const T* up, const T* dy, T* dgate, T* dup,
                              int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t left = count - i;
    const Floats g = simd::load<Floats>(gate + i, left), d = simd::load<Floats>(dy + i, left);
    const Floats s = logistic(g);
    simd::store(dup + i, d * g * s, left);
    simd::store(dgate + i, d * simd::load<Floats>(up + i, left) * s * (1.0F + g * (1.0F - s)),
                left);
  }
}

#define HUM_SWIGLU(T)                                                                           \
  HUM_SIMD_FUNCTION(forward, (const T* gate, const T* up, T* y, int64_t count),                 \
                    (gate, up, y, count))                                                       \
  HUM_SIMD_FUNCTION(backward,                                                                   \
                    (const T* gate, const T* up, const T* dy, T* dgate, T* dup, int64_t count), \
                    (gate, up, dy, dgate, dup, count))
HUM_SWIGLU(float)
HUM_SWIGLU(uint16_t)
#undef HUM_SWIGLU

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const T* x = call.argument(0).as<const T>().data();
  T* y = call.result(0).template as<T>().data();
  const int64_t width = call.result(0).size(-1);
  for_each_rows(call, call.result(0).elements(), width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* gate = x + 2 * row * width;
      forward(gate, gate + width, y + row * width, width);
    }
  });
}

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const T* x = call.argument(0).as<const T>().data();
  const T* dy = call.argument(1).as<const T>().data();
  T* dx = call.result(0).template as<T>().data();
  const int64_t width = call.argument(1).size(-1);
  for_each_rows(call, call.argument(1).elements(), width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = 2 * row * width;
      backward(x + at, x + at + width, dy + row * width, dx + at, dx + at + width, width);
    }
  });
}

}  // namespace

const Kernel kSwigluKernel = {
    {"hum.swiglu", 1, &pjrt::ffi::handler<by_dtype<run_forward<float>, run_forward<uint16_t>>>},
    worth_a_row_kernel};
const Kernel kSwigluGradKernel = {
    {"hum.swiglu_grad", 1,
     &pjrt::ffi::handler<by_dtype<run_backward<float>, run_backward<uint16_t>>>},
    worth_a_row_kernel};

}  // namespace hum::kernels
