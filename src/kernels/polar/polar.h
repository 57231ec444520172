// Converts a network's log magnitudes and phases of a spectrum to complex values in one pass over
// memory; the gradient is one pass too.
#pragma once

#include <source_location>

#include "graph/ops/spectral.h"
#include "graph/value.h"

namespace hum::kernels {

// exp(min(level, max_level)) times the cosine and the sine of the phase, in f32. Phases in radians;
// beyond 8192 they lose accuracy. A level above max_level has no gradient.
// Shapes: x[..., 2F], f32 or bf16: F levels, then F phases -> real and imaginary part f32[..., F].
// Throws: other shapes or types.
graph::Spectrum polar(const graph::Value& x, double max_level,
                      std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp. Setting: max_level.
struct Kernel;
// (x[..., 2F]) -> (real f32[..., F], imag f32[..., F])
extern const Kernel kPolarKernel;
// (x[..., 2F], real, imag, dreal, dimag: f32[..., F]) -> dx
extern const Kernel kPolarGradKernel;

}  // namespace hum::kernels
