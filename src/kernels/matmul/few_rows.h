// Products of a few rows with a weight stored [n, k], for decoding one token of each sequence at a
// time. The limit is reading the weight once, where general matrix code is slower.
#pragma once

#include "kernels/matmul/matmul_cpu.h"

namespace hum::kernels {

// The most rows of a.
constexpr int64_t kMostFewRows = 16;

// Whether multiply_few_rows computes this product: up to four rows, where it beats the tiles.
bool is_few_rows(const Product& product);
void multiply_few_rows(const Product& product, const void* a, const void* b, void* c,
                       Workers& workers);

// The parts of such a product, for kernels that do more in the same loop. T: float, or bf16 as its
// bits; both need Isa::kAvx2.
// Rows of a are first widened: f32 in the order that few_columns reads, zeros at the end.
template <typename T>
int64_t widened_size(int64_t k);
void widen_row(const float* row, int64_t k, float* wide);
void widen_row(const uint16_t* row, int64_t k, float* wide);

// c[m, n] = a[m, k] b[n, k]^T with m <= kMostFewRows.
template <typename T, typename U>
struct FewRows {
  const float* a;  // widened
  const T* b;
  U* c;
  int64_t m, n, k;
};
// Columns [begin, end) of c.
void few_columns(const FewRows<float, float>& p, int64_t begin, int64_t end);
void few_columns(const FewRows<uint16_t, float>& p, int64_t begin, int64_t end);
void few_columns(const FewRows<uint16_t, uint16_t>& p, int64_t begin, int64_t end);

}  // namespace hum::kernels
