#include "kernels/rotary/rotary_cpu.h"

#include <algorithm>

#include "kernels/rotary/rotary.h"
#include "kernels/row_kernel.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

template <typename Floats, typename T>
HUM_INLINE void turn_head(const T* x, const float* waves, T* y, int64_t half) {
  for (int64_t i = 0; i < half; i += kLanes) {
    const int64_t left = half - i;
    const Floats c = simd::load<Floats>(waves + i, left);
    const Floats s = simd::load<Floats>(waves + half + i, left);
    const Floats a = simd::load<Floats>(x + i, left), b = simd::load<Floats>(x + half + i, left);
    simd::store(y + i, a * c - b * s, left);
    simd::store(y + half + i, b * c + a * s, left);
  }
}

template <typename Floats, typename T>
HUM_INLINE void turn_body(const T* x, const float* waves, T* y, const TurnedHeads& h) {
  for (int64_t group = 0; group < h.groups; ++group) {
    for (int64_t member = 0; member < h.turned; ++member) {
      turn_head<Floats>(x, waves, y, h.half);
      std::copy(x + 2 * h.half, x + h.head, y + 2 * h.half);
      x += h.head;
      y += h.head;
    }
    const int64_t rest = (h.members - h.turned) * h.head;
    std::copy_n(x, rest, y);
    x += rest;
    y += rest;
  }
}

}  // namespace

HUM_SIMD_FUNCTION(turn, (const float* x, const float* waves, float* y, const TurnedHeads& heads),
                  (x, waves, y, heads))
HUM_SIMD_FUNCTION(turn,
                  (const uint16_t* x, const float* waves, uint16_t* y, const TurnedHeads& heads),
                  (x, waves, y, heads))

namespace {

template <typename T>
void run(const pjrt::ffi::Call& call) {
  const pjrt::ffi::Array all = call.argument(0);
  const T* x = all.as<const T>().data();
  const float* waves = call.argument(1).as<const float>().data();
  T* y = call.result(0).template as<T>().data();
  const TurnedHeads heads{.groups = all.size(2),
                          .members = all.size(3),
                          .turned = call.attributes().integer("members"),
                          .head = all.size(4),
                          .half = call.argument(1).size(2)};
  const int64_t length = all.size(1), width = heads.groups * heads.members * heads.head;
  for_each_rows(call, all.elements(), width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      turn(x + row * width, waves + row % length * 2 * heads.half, y + row * width, heads);
    }
  });
}

}  // namespace

const Kernel kRotateHeadsKernel = {
    {"hum.rotate_heads", 1, &pjrt::ffi::handler<by_dtype<run<float>, run<uint16_t>>>},
    worth_a_row_kernel};

}  // namespace hum::kernels
