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

// How many of the result's `columns` to join, so that their outputs fill whole vectors: 1 if they
// do already, else a multiple of `step`, which is the stride of a transposed convolution and
// else 1. None if the columns do not divide into joined ones that fit into a panel.
std::optional<int64_t> columns_to_join(int64_t outputs, int64_t columns, int64_t step);

// A convolution with the same result, and its kernel.
struct JoinedColumns {
  PlaneConvolution convolution;
  const void* kernel;
  AlignedMemory made;  // the kernel's memory, if it is not the one given
};
// `kernel` must outlive the result. Needs columns_to_join.
JoinedColumns join_columns(const PlaneConvolution& convolution, const void* kernel);

}  // namespace hum::kernels
