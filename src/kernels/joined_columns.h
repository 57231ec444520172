// Convolutions with few outputs, made wide enough for vectors: neighbouring columns of the result
// become one, with their outputs side by side. The result has the same bytes, and the kernel
// becomes wider, with zeros where a column does not use an input of its neighbours.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/panel_product.h"
#include "kernels/parallel.h"
#include "kernels/plane_convolution.h"

namespace hum::kernels {

// How many columns of the result to join, so that their outputs fill whole vectors: 1 if they do
// already. None if the columns do not divide into joined ones that fit into a panel.
std::optional<int64_t> columns_to_join(const PlaneConvolution& convolution);

// A convolution with the same result, and its kernel.
struct JoinedColumns {
  PlaneConvolution convolution;
  const void* kernel;
  AlignedMemory made;  // the kernel's memory, if it is not the one given
};
// `kernel` must outlive the result. Needs columns_to_join.
JoinedColumns join_columns(const PlaneConvolution& convolution, const void* kernel);

}  // namespace hum::kernels
