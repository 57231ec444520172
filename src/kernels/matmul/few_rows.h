// Products of a few rows with a weight stored [n, k], for decoding one token at a time. The limit
// is reading the weight once, where general matrix code is slower.
#pragma once

#include "kernels/matmul/matmul_cpu.h"

namespace hum::kernels {

// Whether multiply_few_rows computes this product.
bool is_few_rows(const Product& product);
void multiply_few_rows(const Product& product, const void* a, const void* b, void* c,
                       Workers& workers);

}  // namespace hum::kernels
