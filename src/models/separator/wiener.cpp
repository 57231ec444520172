#include "models/separator/wiener.h"

#include <functional>

#include "graph/ops.h"

namespace hum::models::separator {

using graph::Spectrum;
using graph::Value;

namespace {

constexpr double kRegular = 1e-3;       // of the mean power of the channels
constexpr double kTiny = 1e-12;         // of the power of the loudest bin, added to all
constexpr double kLeastSquare = 1e-36;  // a determinant of such powers is above

Value channel(const Value& x_CTF, int64_t at) {
  return graph::squeeze(graph::slice_in_dim(x_CTF, 0, at, at + 1), {0});
}

// A Hermitian matrix [[left, cross], [conj cross, right]] at each element.
struct Covariance {
  Value left, right, cross_real, cross_imag;

  Covariance each(const std::function<Value(const Value&)>& f) const {
    return {f(left), f(right), f(cross_real), f(cross_imag)};
  }
};

// Two complex numbers at each element.
struct Pair {
  Spectrum left, right;
};

Spectrum product(const Spectrum& a, const Spectrum& b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
Spectrum conjugate(const Spectrum& a) { return {a.real, -a.imag}; }
Spectrum scaled(const Spectrum& a, const Value& by) { return {a.real * by, a.imag * by}; }
Spectrum sum(const Spectrum& a, const Spectrum& b) { return {a.real + b.real, a.imag + b.imag}; }

Pair product(const Covariance& r, const Pair& x) {
  const Spectrum cross{r.cross_real, r.cross_imag};
  return {sum(scaled(x.left, r.left), product(cross, x.right)),
          sum(product(conjugate(cross), x.left), scaled(x.right, r.right))};
}

// The inverse of r times x.
Pair solved(const Covariance& r, const Pair& x) {
  const Value determinant =
      r.left * r.right - r.cross_real * r.cross_real - r.cross_imag * r.cross_imag;
  const Value factor = 1.0 / graph::maximum(determinant, kLeastSquare);
  const Covariance adjugate{r.right * factor, r.left * factor, -r.cross_real * factor,
                            -r.cross_imag * factor};
  return product(adjugate, x);
}

}  // namespace

Spectrum wiener_step(const Value& masks_STF, const Spectrum& mixture_CTF) {
  // In the level of the mixture's loudest bin, so that squares of powers fit f32.
  const Value peak = graph::reduce_max(
      graph::maximum(graph::abs(mixture_CTF.real), graph::abs(mixture_CTF.imag)), {0, 1, 2});
  const Value gain = 1.0 / (peak + kTiny);
  const auto levelled = [&](int64_t at) {
    return Spectrum{channel(mixture_CTF.real, at) * gain, channel(mixture_CTF.imag, at) * gain};
  };
  const Pair x{levelled(0), levelled(1)};
  const auto power = [](const Spectrum& s) { return s.real * s.real + s.imag * s.imag; };
  const Spectrum cross = product(x.left, conjugate(x.right));
  const Covariance observed_TF{power(x.left), power(x.right), cross.real, cross.imag};
  const Value power_TF = 0.5 * (observed_TF.left + observed_TF.right) + kTiny;

  // A stem's power is its mask times that of the mixture: but for the directions, its gain is the
  // mask. Its mean covariance over the frames, of trace 2.
  const Value powers_STF = masks_STF * power_TF;
  const Value energy_S1F = graph::sum(powers_STF, {1}, /*keepdims=*/true) + kTiny;
  Covariance spatial_S1F = observed_TF.each([&](const Value& part_TF) {
    return graph::sum(masks_STF * part_TF, {1}, /*keepdims=*/true) / energy_S1F;
  });
  spatial_S1F.left = spatial_S1F.left + kRegular;
  spatial_S1F.right = spatial_S1F.right + kRegular;
  const Covariance stems_STF =
      spatial_S1F.each([&](const Value& part_S1F) { return powers_STF * part_S1F; });

  const Covariance whole_TF =
      stems_STF.each([](const Value& part_STF) { return graph::sum(part_STF, {0}); });
  const Pair stems = product(stems_STF, solved(whole_TF, x));
  const auto joined = [&](const Value& left_STF, const Value& right_STF) {
    return graph::stack({left_STF, right_STF}, 1) * (peak + kTiny);
  };
  return {joined(stems.left.real, stems.right.real), joined(stems.left.imag, stems.right.imag)};
}

}  // namespace hum::models::separator
