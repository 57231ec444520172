#include "graph/ops/custom_call.h"
#include "kernels/polar/polar.h"
#include "kernels/row_kernel.h"
#include "kernels/simd_math.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// sign: 0, or the sign bit.
template <typename Floats>
HUM_INLINE Floats with_sign(Floats x, simd::WordsOf<Floats> sign) {
  return simd::floats(simd::bits(x) ^ sign);
}

// Accurate to 2e-7 for |x| <= 8192. NaN and infinities give NaN.
template <typename Floats>
HUM_INLINE void sine_cosine(Floats x, Floats& sine, Floats& cosine) {
  // x = n pi/2 + r with |r| <= pi/4; pi/2 is split in three; the first two have few bits.
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats shifted = x * 0.636619772F + kRound;
  const Floats n = shifted - kRound;
  const Floats r = ((x - n * 1.5703125F) - n * 4.837512969970703125e-4F) - n * 7.549789954891e-8F;
  const Floats rr = r * r;
  // Minimax polynomials of Cephes' sinf and cosf.
  const Floats odd = (rr * -1.9515295891e-4F + 8.3321608736e-3F) * rr - 1.6666654611e-1F;
  const Floats even =
      (rr * 2.443315711809948e-5F - 1.388731625493765e-3F) * rr + 4.166664568298827e-2F;
  const Floats s = odd * rr * r + r, c = even * (rr * rr) - 0.5F * rr + 1.0F;
  // n is in the low bits of `shifted`: odd quadrants swap the two, the next bit gives the signs.
  const auto quadrant = simd::bits(shifted);
  const auto exchanged = (quadrant & 1) != 0;
  sine = with_sign(simd::select(exchanged, c, s), (quadrant & 2) << 30);
  cosine = with_sign(simd::select(exchanged, s, c), ((quadrant + 1) & 2) << 30);
}

struct Row {
  int64_t bins;
  float max_level;
};

template <typename Floats, typename T>
HUM_INLINE void forward_body(const Row& row, const T* x, float* real, float* imag, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r, x += 2 * row.bins, real += row.bins, imag += row.bins) {
    for (int64_t i = 0; i < row.bins; i += kLanes) {
      const int64_t left = row.bins - i;
      const Floats level = simd::load<Floats>(x + i, left);
      const Floats size = simd::exponential(
          simd::select(level > row.max_level, simd::broadcast<Floats>(row.max_level), level));
      Floats sine, cosine;
      sine_cosine(simd::load<Floats>(x + row.bins + i, left), sine, cosine);
      simd::store(real + i, size * cosine, left);
      simd::store(imag + i, size * sine, left);
    }
  }
}

struct Gradient {
  const float *real, *imag, *dreal, *dimag;
};

template <typename Floats, typename T>
HUM_INLINE void backward_body(const Row& row, const T* x, Gradient g, T* dx, int64_t rows) {
  for (int64_t at = 0; at < rows * row.bins;
       at += row.bins, x += 2 * row.bins, dx += 2 * row.bins) {
    for (int64_t i = 0; i < row.bins; i += kLanes) {
      const int64_t left = row.bins - i;
      const Floats real = simd::load<Floats>(g.real + at + i, left),
                   imag = simd::load<Floats>(g.imag + at + i, left),
                   dreal = simd::load<Floats>(g.dreal + at + i, left),
                   dimag = simd::load<Floats>(g.dimag + at + i, left);
      const Floats dlevel = dreal * real + dimag * imag;
      simd::store(dx + i,
                  simd::select(simd::load<Floats>(x + i, left) < row.max_level, dlevel, Floats{}),
                  left);
      simd::store(dx + row.bins + i, dimag * real - dreal * imag, left);
    }
  }
}

#define HUM_POLAR(T)                                                                               \
  HUM_SIMD_FUNCTION(forward, (const Row& row, const T* x, float* real, float* imag, int64_t rows), \
                    (row, x, real, imag, rows))                                                    \
  HUM_SIMD_FUNCTION(backward, (const Row& row, const T* x, Gradient g, T* dx, int64_t rows),       \
                    (row, x, g, dx, rows))
HUM_POLAR(float)
HUM_POLAR(uint16_t)
#undef HUM_POLAR

Row row_of(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0);
  return {x.size(-1) / 2, static_cast<float>(call.attributes().real("max_level"))};
}

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const Row row = row_of(call);
  const auto x = call.argument(0).as<const T>();
  float *real = call.result(0).template as<float>().data(),
        *imag = call.result(1).template as<float>().data();
  for_each_rows(call, std::ssize(x), 2 * row.bins, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * row.bins;
    forward(row, x.data() + 2 * at, real + at, imag + at, end - begin);
  });
}

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const Row row = row_of(call);
  const auto x = call.argument(0).as<const T>();
  const auto dx = call.result(0).template as<T>();
  const auto part = [&](int index) {
    return call.argument(index).template as<const float>().data();
  };
  const Gradient whole{part(1), part(2), part(3), part(4)};
  for_each_rows(call, std::ssize(x), 2 * row.bins, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * row.bins;
    const Gradient g{whole.real + at, whole.imag + at, whole.dreal + at, whole.dimag + at};
    backward(row, x.data() + 2 * at, g, dx.data() + 2 * at, end - begin);
  });
}

}  // namespace

const Kernel kPolarKernel = {
    {"hum.polar", 1, &pjrt::ffi::handler<by_dtype<run_forward<float>, run_forward<uint16_t>>>},
    worth_a_row_kernel};
const Kernel kPolarGradKernel = {
    {"hum.polar_grad", 1,
     &pjrt::ffi::handler<by_dtype<run_backward<float>, run_backward<uint16_t>>>},
    worth_a_row_kernel};

}  // namespace hum::kernels
