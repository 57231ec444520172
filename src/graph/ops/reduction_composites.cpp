// Ops built on reductions: means, softmax and related ops, argmax, cumulative sums.
#include <cmath>

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"

namespace hum::graph {
namespace {

Value wide_float(std::string_view op, const Value& x) {
  HUM_REQUIRE(is_float(x.dtype()), "{}: needs f32 or bf16, not {}", op, x.shape());
  return convert(x, DType::kF32);
}

// The largest element if it is finite, else 0: softmax subtracts it. No gradient flows through it.
Value shift_of(const Value& x, const Dims& dims) {
  const Value largest = stop_gradient(reduce_max(x, dims, /*keepdims=*/true));
  return select(is_finite(largest), largest, 0);
}

void require_labels(std::string_view op, const Value& logits, const Value& labels) {
  const Dims rows(logits.dims().begin(), logits.dims().end() - (logits.rank() > 0 ? 1 : 0));
  HUM_REQUIRE(logits.rank() > 0 && labels.dtype() == DType::kI32 && labels.dims() == rows,
              "{}: labels {} do not fit logits {}", op, labels.shape(), logits.shape());
}

// log sum exp, in f32; `shift` (dims kept) is subtracted before the exponentials.
Value log_sum_exp(const Value& wide, const Value& shift, const Dims& dims, bool keepdims,
                  std::source_location where) {
  const Value sum = reduce_sum(exponential(wide - shift), dims, keepdims, where);
  return log(sum) + reshape(shift, sum.dims(), where);
}

// The first index where x equals its extreme value.
Value index_of(const Value& x, const Value& extreme, int64_t dim, bool keepdims,
               std::source_location where) {
  const auto d = static_cast<int>(dim);
  const auto last = static_cast<double>(x.size(d) - 1);
  const Value indices = iota({DType::kI32, x.dims()}, d, where);
  // A row of NaNs matches nothing: the result is the last index.
  return reduce_min(select(equal(x, extreme), indices, last, where), {dim}, keepdims, where);
}

// [size, size], 1 where the row index is below the column index by `offset` or more.
Value triangle(int64_t size, int64_t offset, std::source_location where) {
  const Shape shape{DType::kI32, {size, size}};
  return convert(iota(shape, 0, where) + offset <= iota(shape, 1, where), DType::kF32);
}

// Cumulative sums of the last dim, in blocks of about sqrt(n): products with triangular matrices
// sum within a block and over the blocks before it. Shifted adds (below) would be fused into one
// loop that recomputes each of the log2(n) steps for every use: 100 times slower at n = 1,024 on
// CPU.
Value block_sums(const Value& x, std::source_location where) {
  const int64_t size = x.size(-1);
  const int64_t block = size <= 64 ? size : static_cast<int64_t>(std::ceil(std::sqrt(size)));
  const int64_t count = (size + block - 1) / block;
  Dims dims = x.dims();
  dims.back() = count;
  dims.push_back(block);
  const Value blocks = reshape(pad_in_dim(x, 0, -1, 0, count * block - size, where), dims, where);
  Value sums = matmul(blocks, triangle(block, 0, where), {}, where);
  if (count > 1) {
    const Value totals = squeeze(slice_in_dim(sums, -1, block - 1, block, 1, where), {-1}, where);
    sums = sums + expand_dims(matmul(totals, triangle(count, 1, where), {}, where), -1, where);
  }
  dims.pop_back();
  dims.back() = count * block;
  return slice_in_dim(reshape(sums, dims, where), -1, 0, size, 1, where);
}

// Shifted adds with doubling distances: exact for integers, which have no matrix product.
Value doubling_sums(Value x, int64_t dim, std::source_location where) {
  const int64_t size = x.size(static_cast<int>(dim));
  for (int64_t distance = 1; distance < size; distance *= 2) {
    x = x + pad_in_dim(x, 0, dim, distance, -distance, where);
  }
  return x;
}

}  // namespace

Value sum_all(const Value& x, std::source_location where) {
  return reduce_sum(x, other_dims(x.rank(), {}), false, where);
}

Value mean_all(const Value& x, std::source_location where) {
  return mean(x, other_dims(x.rank(), {}), false, where);
}

Value mean(const Value& x, Dims dims, bool keepdims, std::source_location where) {
  const ErrorContext context = building("mean", {x}, where);
  dims = resolve_dims("mean", x, std::move(dims), where);
  const Value sum = reduce_sum(wide_float("mean", x), dims, keepdims, where);
  return convert(sum * (1.0 / static_cast<double>(element_count(x.dims(), dims))), x.dtype());
}

Value variance(const Value& x, Dims dims, bool keepdims, std::source_location where) {
  const ErrorContext context = building("variance", {x}, where);
  dims = resolve_dims("variance", x, std::move(dims), where);
  const Value wide = wide_float("variance", x);
  const Value distance = wide - mean(wide, dims, /*keepdims=*/true, where);
  return convert(mean(distance * distance, dims, keepdims, where), x.dtype());
}

Value logsumexp(const Value& x, Dims dims, bool keepdims, std::source_location where) {
  const ErrorContext context = building("logsumexp", {x}, where);
  dims = resolve_dims("logsumexp", x, std::move(dims), where);
  const Value wide = wide_float("logsumexp", x);
  return convert(log_sum_exp(wide, shift_of(wide, dims), dims, keepdims, where), x.dtype());
}

Value softmax(const Value& x, int64_t dim, std::source_location where) {
  const ErrorContext context = building("softmax", {x}, where);
  const Dims dims = resolve_dims("softmax", x, {dim}, where);
  const Value wide = wide_float("softmax", x);
  const Value weights = exponential(wide - shift_of(wide, dims));
  return convert(weights / reduce_sum(weights, dims, /*keepdims=*/true, where), x.dtype());
}

Value log_softmax(const Value& x, int64_t dim, std::source_location where) {
  const ErrorContext context = building("log_softmax", {x}, where);
  const Dims dims = resolve_dims("log_softmax", x, {dim}, where);
  const Value wide = wide_float("log_softmax", x);
  const Value shifted = wide - shift_of(wide, dims);
  const Value sum = reduce_sum(exponential(shifted), dims, /*keepdims=*/true, where);
  return convert(shifted - log(sum), x.dtype());
}

// A masked sum instead of a gather, so that the gradient is not a scatter.
Value label_logits(const Value& logits, const Value& labels, std::source_location where) {
  const ErrorContext context = building("label_logits", {logits, labels}, where);
  require_labels("label_logits", logits, labels);
  const Value wide = wide_float("label_logits", logits);
  const Value classes = iota({DType::kI32, logits.dims()}, -1, where);
  const Value chosen = equal(classes, expand_dims(labels, -1, where));
  return reduce_sum(select(chosen, wide, 0), {-1}, false, where);
}

// The label's logit is at most the largest, so adding it to the shift changes no value. It is then
// read before the exponentials, which can overwrite the logits.
Value softmax_cross_entropy(const Value& logits, const Value& labels, std::source_location where) {
  const ErrorContext context = building("softmax_cross_entropy", {logits, labels}, where);
  require_labels("softmax_cross_entropy", logits, labels);
  const Value wide = wide_float("softmax_cross_entropy", logits);
  const Value label = label_logits(wide, labels, where);
  const Value shift = maximum(shift_of(wide, {-1}), expand_dims(stop_gradient(label), -1, where));
  return log_sum_exp(wide, shift, {-1}, /*keepdims=*/false, where) - label;
}

Value argmax(const Value& x, int64_t dim, bool keepdims, std::source_location where) {
  const ErrorContext context = building("argmax", {x}, where);
  dim = resolve_dim("argmax", x, dim, where);
  const Value fixed = stop_gradient(x);
  return index_of(fixed, reduce_max(fixed, {dim}, /*keepdims=*/true, where), dim, keepdims, where);
}

Value argmin(const Value& x, int64_t dim, bool keepdims, std::source_location where) {
  const ErrorContext context = building("argmin", {x}, where);
  dim = resolve_dim("argmin", x, dim, where);
  const Value fixed = stop_gradient(x);
  return index_of(fixed, reduce_min(fixed, {dim}, /*keepdims=*/true, where), dim, keepdims, where);
}

Value cumulative_sum(const Value& x, int64_t dim, std::source_location where) {
  const ErrorContext context = building("cumulative_sum", {x}, where);
  dim = resolve_dim("cumulative_sum", x, dim, where);
  HUM_REQUIRE(x.dtype() != DType::kI1, "cumulative_sum: needs numbers, not {}", x.shape());
  if (!is_float(x.dtype())) return doubling_sums(x, dim, where);
  const Value rows = swap_dims(convert(x, DType::kF32), dim, -1, where);
  return convert(swap_dims(block_sums(rows, where), dim, -1, where), x.dtype());
}

}  // namespace hum::graph
