#include "kernels/matmul/matmul_cpu.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "base/bf16.h"
#include "base/rng.h"
#include "kernels/matmul/onednn_plan.h"
#include "kernels/pool_workers.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;

// A matrix in both precisions; the f32 values are exact in the chosen type.
struct Matrix {
  std::vector<float> f32;
  std::vector<uint16_t> bf16;
  DType dtype;
  const void* data() const {
    return dtype == DType::kF32 ? static_cast<const void*>(f32.data()) : bf16.data();
  }
};

Matrix random_matrix(int64_t elements, DType dtype, const char* name) {
  Rng rng(7, name, static_cast<uint64_t>(elements));
  Matrix matrix{{}, {}, dtype};
  for (int64_t i = 0; i < elements; ++i) {
    const auto value = static_cast<float>(rng.normal());
    matrix.bf16.push_back(to_bf16(value));
    matrix.f32.push_back(dtype == DType::kF32 ? value : from_bf16(matrix.bf16.back()));
  }
  return matrix;
}

std::vector<double> reference(const Product& p, const Matrix& a, const Matrix& b) {
  std::vector<double> c(static_cast<size_t>(p.m * p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        const auto at = static_cast<size_t>(p.transpose_a ? l * p.m + i : i * p.k + l);
        const auto bt = static_cast<size_t>(p.transpose_b ? j * p.k + l : l * p.n + j);
        sum += static_cast<double>(a.f32[at]) * static_cast<double>(b.f32[bt]);
      }
      c[static_cast<size_t>(i * p.n + j)] = sum;
    }
  }
  return c;
}

std::vector<float> run(const Product& p, const Matrix& a, const Matrix& b, Workers& workers) {
  const auto size = static_cast<size_t>(p.m * p.n);
  std::vector<float> result(size, -1e30F);
  if (p.out == DType::kF32) {
    multiply(p, a.data(), b.data(), result.data(), workers);
  } else {
    std::vector<uint16_t> narrow(size, 0xffff);
    multiply(p, a.data(), b.data(), narrow.data(), workers);
    for (size_t i = 0; i < size; ++i) result[i] = from_bf16(narrow[i]);
  }
  return result;
}

void expect_agrees(const Product& p, Workers& workers) {
  const Matrix a = random_matrix(p.m * p.k, p.in, "a"), b = random_matrix(p.k * p.n, p.in, "b");
  const auto wanted = reference(p, a, b);
  const auto got = run(p, a, b, workers);
  // Sums of k products of unit normals grow as sqrt(k); a bf16 result is rounded to 8 bits.
  const double sum_error = 1e-5 * std::sqrt(static_cast<double>(p.k));
  const double rounding = p.out == DType::kBF16 ? 1.0 / 256 : 1e-6;
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], sum_error + rounding * std::abs(wanted[i]))
        << p.m << "x" << p.k << "x" << p.n << " ta" << p.transpose_a << " tb" << p.transpose_b
        << " " << graph::name(p.in) << "->" << graph::name(p.out) << " at " << i;
  }
}

TEST(Multiply, AgreesWithDoublesOverOddSizesTypesAndTransposes) {
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  PoolWorkers workers(3);
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 7, 5},    {5, 1, 3},       {3, 9, 1},
                              {17, 31, 13},  {64, 64, 64}, {129, 65, 33},   {301, 127, 66},
                              {2, 513, 700}, {4, 15, 17},  {3, 1030, 1029}, {400, 77, 3}};
  for (const auto& [m, k, n] : sizes) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        expect_agrees({m, n, k, ta, tb, DType::kF32, DType::kF32}, workers);
        expect_agrees({m, n, k, ta, tb, DType::kBF16, DType::kF32}, workers);
        expect_agrees({m, n, k, ta, tb, DType::kBF16, DType::kBF16}, workers);
      }
    }
  }
}

TEST(Multiply, AgreesWhenCutIntoStripsOfEitherSide) {
  PoolWorkers workers(4);
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  for (const DType in : {DType::kF32, DType::kBF16}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        expect_agrees({700, 90, 260, ta, tb, in, in}, workers);
        expect_agrees({90, 700, 260, ta, tb, in, in}, workers);
      }
    }
  }
}

// A shared primitive with oneDNN's default scratch memory fails this.
TEST(Multiply, GivesEqualBitsFromFourThreadsAtOnce) {
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  const Product p{150, 130, 140, true, true, DType::kBF16, DType::kF32};
  const Matrix a = random_matrix(p.m * p.k, p.in, "a"), b = random_matrix(p.k * p.n, p.in, "b");
  PoolWorkers workers(2);
  const auto wanted = run(p, a, b, workers);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 250; ++i) {
          const auto got = run(p, a, b, workers);
          if (std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(float)) != 0) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Multiply, UsesTheBestInstructionsOfTheMachine) {
  HUM_NEEDS(Isa::kAvx512Bf16, matmul_isa());
  const Product p{64, 64, 64, false, false, DType::kBF16, DType::kBF16};
  const std::string name = implementation_name(p);
  if (matmul_isa() == Isa::kAvx512Bf16) {
    EXPECT_NE(name.find("avx512_core_bf16"), name.npos) << name;
  } else if (matmul_isa() == Isa::kAmx) {
    EXPECT_NE(name.find("amx"), name.npos) << name;
  }
}

TEST(CanMultiply, RefusesEmptyDimsAndOtherTypes) {
  EXPECT_EQ(can_multiply({4, 4, 4}), matmul_isa() >= Isa::kAvx2);
  EXPECT_FALSE(can_multiply({4, 0, 4}));
  EXPECT_FALSE(can_multiply({4, 4, 4, false, false, DType::kI32, DType::kI32}));
  EXPECT_FALSE(can_multiply({4, 4, 4, false, false, DType::kF32, DType::kBF16}));
}

}  // namespace
}  // namespace hum::kernels
