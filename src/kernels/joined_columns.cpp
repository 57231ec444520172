#include "kernels/joined_columns.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/simd.h"

namespace hum::kernels {
namespace {

// The kernel's tap `tap` takes input `shift` for column `column` of the joined ones; input 0 is the
// first of the stride that belongs to them.
struct JoinedTap {
  int64_t column, tap, shift;
};

std::vector<JoinedTap> joined_taps(const ConvolutionAxis& axis, int64_t columns) {
  std::vector<JoinedTap> joined;
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t tap = 0; tap < axis.taps; ++tap) {
      const int64_t reach = tap * axis.dilation - axis.padding_low;
      if (!axis.transposed) {
        joined.push_back({column, tap, column * axis.stride + reach});
      } else if ((column - reach) % axis.stride == 0) {
        joined.push_back({column, tap, (column - reach) / axis.stride});
      }
    }
  }
  return joined;
}

// Shapes: [rows][taps][inputs][outputs] -> [rows][wide taps][inputs][columns x outputs].
AlignedMemory join_kernel(const PlaneConvolution& c, const PlaneConvolution& wide,
                          std::span<const JoinedTap> taps, int64_t columns, const void* kernel) {
  const size_t element = c.word == Word::kF32 ? sizeof(float) : sizeof(uint16_t),
               outputs = static_cast<size_t>(c.outputs) * element;
  const int64_t wide_rows = c.rows.taps * wide.columns.taps * c.inputs;
  const size_t bytes = static_cast<size_t>(wide_rows * columns) * outputs;
  AlignedMemory memory = aligned_memory(bytes);
  std::memset(memory.get(), 0, bytes);
  const auto* from = static_cast<const std::byte*>(kernel);
  for (int64_t row = 0; row < c.rows.taps; ++row) {
    for (const JoinedTap& tap : taps) {
      const int64_t wide_tap = row * wide.columns.taps + tap.shift + wide.columns.padding_low;
      for (int64_t input = 0; input < c.inputs; ++input) {
        const int64_t at = (wide_tap * c.inputs + input) * columns + tap.column,
                      of = (row * c.columns.taps + tap.tap) * c.inputs + input;
        std::memcpy(memory.get() + static_cast<size_t>(at) * outputs,
                    from + static_cast<size_t>(of) * outputs, outputs);
      }
    }
  }
  return memory;
}

}  // namespace

std::optional<int64_t> columns_to_join(int64_t outputs, int64_t columns, int64_t step) {
  const int64_t least = simd::kLanes / std::gcd(outputs, simd::kLanes);
  if (least == 1) return 1;
  const int64_t joined = std::lcm(least, step);
  const bool fits = joined * outputs <= kPanelWidth && columns % joined == 0;
  return fits ? std::optional(joined) : std::nullopt;
}

JoinedColumns join_columns(const PlaneConvolution& c, const void* kernel) {
  const ConvolutionAxis& axis = c.columns;
  const auto columns = columns_to_join(c.outputs, axis.out, axis.transposed ? axis.stride : 1);
  HUM_CHECK(columns, "{} columns of {} outputs cannot be joined", axis.out, c.outputs);
  if (*columns == 1) return {c, kernel, {}};
  const auto taps = joined_taps(axis, *columns);
  const auto [first, last] = std::ranges::minmax(taps, {}, &JoinedTap::shift);
  PlaneConvolution wide = c;
  wide.outputs = *columns * c.outputs;
  wide.columns = {.taps = last.shift - first.shift + 1,
                  .in = axis.in,
                  .out = axis.out / *columns,
                  .stride = axis.transposed ? *columns / axis.stride : *columns * axis.stride,
                  .padding_low = -first.shift};
  AlignedMemory made = join_kernel(c, wide, taps, *columns, kernel);
  const void* words = made.get();
  return {wide, words, std::move(made)};
}

}  // namespace hum::kernels
