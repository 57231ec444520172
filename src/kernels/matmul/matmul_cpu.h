// Matrix products on the CPU through oneDNN: no graph, no XLA, plain pointers.
#pragma once

#include <cstdint>
#include <string>

#include "graph/shape.h"
#include "kernels/cpu_features.h"
#include "kernels/parallel.h"

namespace hum::kernels {

// c[m, n] = op(a) op(b), row-major and dense. a is [m, k], or [k, m] when transpose_a; b is [k, n],
// or [n, k] when transpose_b. Sums are f32 whatever the element types.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  // Of both a and b, and of c: f32 -> f32, bf16 -> f32 or bf16.
  graph::DType in = graph::DType::kF32, out = graph::DType::kF32;
  bool operator==(const Product&) const = default;
};

// The lower of chosen_isa() and what oneDNN will use (ONEDNN_MAX_CPU_ISA lowers it).
Isa matmul_isa();

// True when multiply() runs on this machine: AVX2 at least, supported types, no empty dims.
bool can_multiply(const Product& product);

// Whether multiply() beats XLA's own dot on this machine (types and sizes; see matmul_bench).
bool is_faster(const Product& product);

// Computes c. Safe to call from any number of threads at once; equal calls, workers.threads()
// included, give equal bits.
void multiply(const Product& product, const void* a, const void* b, void* c, Workers& workers);

// "brg:avx512_core_bf16": the oneDNN implementation that a product gets, for logs and benches.
std::string implementation_name(const Product& product);

}  // namespace hum::kernels
