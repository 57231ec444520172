// rfft and irfft without complex numbers, for platforms that lack them.
#pragma once

#include "graph/ops/spectral.h"

namespace hum::graph {

// As products with a table of cosines and sines.
Spectrum rfft_as_products(const Value& x);
Value irfft_as_products(const Value& real, const Value& imag, int64_t n);

}  // namespace hum::graph
