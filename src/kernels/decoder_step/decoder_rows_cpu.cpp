#include <cmath>

#include "kernels/decoder_step/decoder_step_impl.h"
#include "kernels/simd_math.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Rounds as storing and reading back does, so that every product is rounded where the plain ops
// round it.
template <typename T, typename Floats>
HUM_INLINE Floats rounded(Floats x) {
  T stored[kLanes];
  simd::store(stored, x);
  return simd::load<Floats>(stored);
}

template <typename Floats, typename T>
HUM_INLINE void normalise_body(const T* x, const float* scale, T* y, int64_t width, float epsilon) {
  Floats power{};
  for (int64_t i = 0; i < width; i += kLanes) {
    const Floats value = simd::load<Floats>(x + i);
    power += value * value;
  }
  const float factor = 1.0F / std::sqrt(simd::sum(power) / static_cast<float>(width) + epsilon);
  for (int64_t i = 0; i < width; i += kLanes) {
    simd::store(y + i, simd::load<Floats>(x + i) * factor * simd::load<Floats>(scale + i));
  }
}

template <typename Floats, typename T>
HUM_INLINE void store_rounded_body(const float* sums, T* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) simd::store(y + i, simd::load<Floats>(sums + i));
}

template <typename Floats, typename T>
HUM_INLINE void add_rounded_body(const float* sums, T* x, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    simd::store(x + i, simd::load<Floats>(x + i) + rounded<T>(simd::load<Floats>(sums + i)));
  }
}

template <typename Floats, typename T>
HUM_INLINE void store_gated_body(const float* gates, const float* ups, T* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats gate = rounded<T>(simd::load<Floats>(gates + i));
    const Floats up = rounded<T>(simd::load<Floats>(ups + i));
    simd::store(y + i, gate * (1.0F / (1.0F + simd::exponential(-gate))) * up);
  }
}

}  // namespace

#define HUM_DECODER_STEP(T)                                                                    \
  HUM_SIMD_FUNCTION(normalise,                                                                 \
                    (const T* x, const float* scale, T* y, int64_t width, float epsilon),      \
                    (x, scale, y, width, epsilon))                                             \
  HUM_SIMD_FUNCTION(store_rounded, (const float* sums, T* y, int64_t count), (sums, y, count)) \
  HUM_SIMD_FUNCTION(add_rounded, (const float* sums, T* x, int64_t count), (sums, x, count))   \
  HUM_SIMD_FUNCTION(store_gated, (const float* gates, const float* ups, T* y, int64_t count),  \
                    (gates, ups, y, count))
HUM_DECODER_STEP(float)
HUM_DECODER_STEP(uint16_t)
#undef HUM_DECODER_STEP

}  // namespace hum::kernels
