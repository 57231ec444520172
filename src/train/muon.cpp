#include "train/muon.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/matmul/matmul.h"

namespace hum::train {

using graph::convert;
using graph::DType;
using graph::Value;
using graph::Values;

namespace {

// x <- a x + (b G + c G G) x, G = x x^T. The coefficients make the slope at 0 steep, so that five
// steps suffice. Source: Jordan et al. 2024.
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
constexpr int kSteps = 5;
constexpr double kEpsilon = 1e-7;

Value wide(const Value& x) { return convert(x, DType::kF32); }

// Rounds once, for all who use the value. XLA may leave the rounding out where an f32 operation
// follows ("excess precision"). The rounded and the exact x would then meet in one step, whose
// terms no longer cancel: 1.7 times PyTorch's errors instead of equal ones.
Value rounded(const Value& x, DType type) {
  return graph::optimization_barrier(Values{convert(x, type)})[0];
}

// One step for x[m, n]. Multiplies by the smaller Gram matrix, x x^T or x^T x, which gives the same
// x. Sums are f32, rounded once.
Value newton_schulz(const Value& x) {
  const bool is_tall = x.size(0) > x.size(1);
  const Value gram =
      rounded(kernels::matmul(x, x,
                              is_tall ? kernels::MatmulOptions{.transpose_lhs = true}
                                      : kernels::MatmulOptions{.transpose_rhs = true}),
              x.dtype());
  const Value square = kernels::matmul(gram, gram, {.result = DType::kF32});
  const Value polynomial = convert(wide(gram) * kB + square * kC, x.dtype());
  const Value product = is_tall ? kernels::matmul(x, polynomial, {.result = DType::kF32})
                                : kernels::matmul(polynomial, x, {.result = DType::kF32});
  return rounded(wide(x) * kA + product, x.dtype());
}

Value orthogonalised_matrix(const Value& matrix, DType products) {
  Value x = rounded(matrix, products);
  const Value norm = graph::sqrt(graph::sum_all(wide(x) * wide(x)));
  x = rounded(x / convert(graph::maximum(norm, kEpsilon), products), products);
  for (int i = 0; i < kSteps; ++i) x = newton_schulz(x);
  return wide(x);
}

}  // namespace

double muon_factor(MuonScale scale, int64_t rows, int64_t columns) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns);
  switch (scale) {
    case MuonScale::kOriginal:
      return std::sqrt(std::max(1.0, m / n));
    case MuonScale::kMatchRmsAdamW:
      return 0.2 * std::sqrt(std::max(m, n));
    case MuonScale::kSpectralUnclamped:
      return std::sqrt(m / n);
  }
  HUM_CHECK(false, "a Muon scale without a factor");
  return 1;
}

Value orthogonalised(const Value& x, bool bf16_products) {
  HUM_REQUIRE(x.rank() == 2 || x.rank() == 3, "Muon trains matrices and stacks of them, not {}",
              x.shape());
  const DType products = bf16_products ? DType::kBF16 : DType::kF32;
  if (x.rank() == 2) return orthogonalised_matrix(x, products);
  const auto one = [&](const graph::ScanStep& step) {
    return graph::ScanResult{.carry = {}, .ys = {orthogonalised_matrix(step.xs[0], products)}};
  };
  return graph::scan(x.size(0), {}, graph::Values{x}, one, {.gradient = graph::ScanGradient::kNone})
      .ys[0];
}

MuonResult muon(const MuonConfig& config, const MuonTensor& tensor, const Value& learning_rate,
                double weight_decay) {
  const double keep = config.momentum,
               factor = muon_factor(config.scale, tensor.weights.size(-2), tensor.weights.size(-1));
  const Value momentum = tensor.momentum * keep + tensor.gradient * (1 - keep);
  const Value ahead = tensor.gradient * (1 - keep) + momentum * keep;  // Nesterov
  const Value direction = orthogonalised(ahead, config.bf16_products) * factor;
  const Value rate = learning_rate * config.rate;
  return {tensor.weights - (direction + tensor.weights * weight_decay) * rate, momentum};
}

}  // namespace hum::train
