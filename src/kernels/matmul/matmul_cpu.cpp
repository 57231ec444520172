#include "kernels/matmul/matmul_cpu.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/bf16.h"
#include "base/error.h"
#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/matmul/few_rows.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/onednn_plan.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;

// c is split into strips along its longer side; each strip is one oneDNN call on one thread.
struct Strips {
  bool of_rows = true;
  int64_t width = 0;
  int64_t count = 1;
};

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

Strips cut(const Product& p, int threads) {
  constexpr double kLeastFlops = 4e6;  // 10-20 us of work, the cost of waking a thread
  constexpr int64_t kUnit = 64;
  // Two balance the load. On AVX2, oneDNN does not pack a 512 x 512 strip, and a weight gradient
  // takes twice as long.
  const int64_t strips_per_thread = matmul_isa() == Isa::kAvx2 ? 1 : 2;
  const bool of_rows = p.m >= p.n;
  const int64_t length = of_rows ? p.m : p.n;
  const double flops =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const auto most = static_cast<int64_t>(flops / kLeastFlops);
  if (threads <= 1 || most <= 1) return {of_rows, length, 1};
  const int64_t wanted = std::clamp<int64_t>(most, 1, threads * strips_per_thread);
  const int64_t width = divide_up(divide_up(length, wanted), kUnit) * kUnit;
  return {of_rows, width, divide_up(length, width)};
}

struct Strip {
  Block block;
  int64_t a_offset = 0, b_offset = 0, c_offset = 0;  // in elements
};

Strip strip_at(const Product& p, const Strips& strips, int64_t index) {
  const int64_t begin = index * strips.width;
  Strip strip;
  strip.block = {p, p.transpose_a ? p.m : p.k, p.transpose_b ? p.k : p.n, p.n};
  if (strips.of_rows) {
    strip.block.product.m = std::min(strips.width, p.m - begin);
    strip.a_offset = p.transpose_a ? begin : begin * p.k;
    strip.c_offset = begin * p.n;
  } else {
    strip.block.product.n = std::min(strips.width, p.n - begin);
    strip.b_offset = p.transpose_b ? begin * p.k : begin;
    strip.c_offset = begin;
  }
  return strip;
}

template <typename T>
T* advance(T* data, int64_t elements, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(data) + elements * graph::size_bytes(dtype);
}

void multiply_strips(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  const Strips strips = cut(p, workers.threads());
  for_each_chunk(workers, strips.count, [&](int64_t i) {
    const Strip strip = strip_at(p, strips, i);
    const MatmulPlan& plan = plan_for(strip.block);
    plan.execute(advance(a, strip.a_offset, p.in), advance(b, strip.b_offset, p.in),
                 advance(c, strip.c_offset, p.out), thread_scratch(plan.scratch_bytes()).data());
  });
}

// Without native bf16 products: both inputs widened to f32, the result rounded.
void multiply_widened(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  constexpr int64_t kGrain = 32768;
  const auto widen = [&](const void* from, int64_t count) {
    std::unique_ptr<float[]> wide(new float[static_cast<size_t>(count)]);
    const auto* narrow = static_cast<const uint16_t*>(from);
    for_each_range(workers, count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) wide[static_cast<size_t>(i)] = from_bf16(narrow[i]);
    });
    return wide;
  };
  const auto wide_a = widen(a, p.m * p.k), wide_b = widen(b, p.k * p.n);
  Product wide = p;
  wide.in = wide.out = DType::kF32;
  if (p.out == DType::kF32) return multiply_strips(wide, wide_a.get(), wide_b.get(), c, workers);

  const std::unique_ptr<float[]> sums(new float[static_cast<size_t>(p.m * p.n)]);
  multiply_strips(wide, wide_a.get(), wide_b.get(), sums.get(), workers);
  for_each_range(workers, p.m * p.n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      static_cast<uint16_t*>(c)[i] = to_bf16(sums[static_cast<size_t>(i)]);
    }
  });
}

bool needs_widening(const Product& p) {
  return p.in == DType::kBF16 && matmul_isa() < Isa::kAvx512Bf16;
}

}  // namespace

Isa matmul_isa() { return onednn_isa(); }

bool can_multiply(const Product& p) {
  const bool types = (p.in == DType::kF32 && p.out == DType::kF32) ||
                     (p.in == DType::kBF16 && (p.out == DType::kF32 || p.out == DType::kBF16));
  return types && p.m > 0 && p.n > 0 && p.k > 0 && matmul_isa() >= Isa::kAvx2;
}

bool is_faster(const Product& p) {
  // Measured on two Zen 5 cores against XLA's own dot, sixteen calls in a program. XLA multiplies
  // f32 as fast as oneDNN until the product is large; its bf16 is three to four times slower.
  constexpr double kLeastF32 = 5e7, kLeastBf16 = 4096, kLeastFewRows = 32768;
  const double size =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  if (is_few_rows(p)) return size >= kLeastFewRows;
  return size >= (p.in == DType::kF32 || needs_widening(p) ? kLeastF32 : kLeastBf16);
}

void multiply(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  HUM_CHECK(can_multiply(p), "{} x {} x {}", p.m, p.k, p.n);
  if (is_few_rows(p)) {
    multiply_few_rows(p, a, b, c, workers);
  } else if (needs_widening(p)) {
    multiply_widened(p, a, b, c, workers);
  } else {
    multiply_strips(p, a, b, c, workers);
  }
}

std::string implementation_name(const Product& p) {
  if (is_few_rows(p)) return "few_rows";
  Product used = p;
  if (needs_widening(p)) used.in = used.out = DType::kF32;
  const Strips whole{true, p.m, 1};
  return plan_for(strip_at(used, whole, 0).block).implementation();
}

namespace {

DType to_dtype(const pjrt::ffi::Array& array) {
  return array.is_bf16() ? DType::kBF16 : DType::kF32;
}

void run_matmul(const pjrt::ffi::Call& call) {
  const auto a = call.argument(0), b = call.argument(1), c = call.result(0);
  Product product;
  product.transpose_a = call.attributes().flag("transpose_a");
  product.transpose_b = call.attributes().flag("transpose_b");
  product.m = c.size(0);
  product.n = c.size(1);
  product.k = a.size(product.transpose_a ? 0 : 1);
  product.in = to_dtype(a);
  product.out = to_dtype(c);
  CallWorkers workers(call);
  multiply(product, a.data(), b.data(), c.data(), workers);
}

bool matmul_available(const graph::Node& node) {
  const graph::Attributes settings = graph::custom_call_settings(node);
  const graph::Shape& a = node.input(0).shape();
  const graph::Shape& c = node.shapes()[0];
  Product product;
  product.transpose_a = settings.get<bool>("transpose_a");
  product.transpose_b = settings.get<bool>("transpose_b");
  product.m = c.dims[0];
  product.n = c.dims[1];
  product.k = a.dims[product.transpose_a ? 0 : 1];
  product.in = a.dtype;
  product.out = c.dtype;
  return can_multiply(product) && is_faster(product);
}

}  // namespace

const Kernel kMatmulKernel = {{"hum.matmul", 1, &pjrt::ffi::handler<run_matmul>}, matmul_available};

}  // namespace hum::kernels
