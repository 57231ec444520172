#include "kernels/adamw/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/bf16.h"
#include "base/error.h"
#include "graph/ops/elementwise.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using runtime::HostTensor;

constexpr AdamwSettings kSettings = {0.9, 0.987, 1e-8, 0.0123};

// Parameters: weights, mean, square, gradient, clip, rate, unbias1, unbias2, key; weights and
// moments are donated.
graph::Function program(const graph::Dims& dims, DType gradient, bool decays, int64_t parts) {
  const graph::Shape wide{DType::kF32, dims}, scalar{DType::kF32, {}};
  const graph::Values in = {parameter("w", {DType::kBF16, dims}),
                            parameter("m", wide),
                            parameter("v", wide),
                            parameter("g", {gradient, dims}),
                            parameter("clip", scalar),
                            parameter("rate", scalar),
                            parameter("unbias1", scalar),
                            parameter("unbias2", scalar),
                            parameter("key", {DType::kU32, {2}})};
  const Value numbers = adamw_numbers({in[4], in[5], in[6], in[7]}, kSettings);
  AdamwTensor tensor{in[0], in[1], in[2], graph::convert(in[3], DType::kF32), decays, {}};
  for (int64_t i = 0; i < parts; ++i) tensor.streams.push_back(static_cast<uint32_t>(77 * i + 5));
  const auto result = adamw(tensor, numbers, in[8]);
  return {"adamw", in, {result.weights, result.mean, result.square}, {{0, 0}, {1, 1}, {2, 2}}};
}

std::vector<HostTensor> inputs_of(const graph::Function& function) {
  auto inputs = random_inputs(function);
  for (float& v : inputs[2].as<float>()) v = v * v * 1e-3F;
  const float scalars[] = {0.731F, 1e-3F, 1.17F, 1.31F};
  for (size_t i = 0; i < 4; ++i) inputs[4 + i] = HostTensor::scalar(scalars[i]);
  inputs[8] = HostTensor::of<uint32_t>({2}, {0x1234567, 0xfedcba98});
  return inputs;
}

TEST(Adamw, KernelAndPlainOpsGiveEqualBitsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  struct Row {
    graph::Dims dims;
    int64_t parts;
  };
  for (const Row& row :
       {Row{{64, 128}, 1}, {{4099}, 1}, {{3, 37, 41}, 3}, {{2, 33333}, 2}, {{300, 511}, 1}}) {
    for (const DType gradient : {DType::kF32, DType::kBF16}) {
      const auto function = program(row.dims, gradient, row.parts != 2, row.parts);
      const auto inputs = inputs_of(function);
      const auto ours = run_kernels(function, inputs, {"hum.adamw"});
      const auto plain = plain_session().compile("adamw", function).run(inputs);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(ours[i] == plain[i]) << "result " << i << " " << ours[i].shape().to_string();
      }
    }
  }
}

// In f64 from the definition; a weight may round to either neighbour.
TEST(Adamw, MatchesADoublePrecisionReference) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program({40, 200}, DType::kF32, true, 1);
  const auto in = inputs_of(function);
  const auto out = run_kernels(function, in, {"hum.adamw"});
  const auto w = in[0].to_floats(), updated = out[0].to_floats();
  for (size_t i = 0; i < w.size(); ++i) {
    const double g = double{in[3].as<float>()[i]} * double{0.731F};
    const double m = 0.9 * double{in[1].as<float>()[i]} + 0.1 * g;
    const double v = 0.987 * double{in[2].as<float>()[i]} + 0.013 * g * g;
    EXPECT_NEAR(out[1].as<float>()[i], m, 1e-6);
    EXPECT_NEAR(out[2].as<float>()[i], v, 1e-6);
    const double direction = m * 1.17 / (std::sqrt(v * 1.31) + 1e-8) + 0.0123 * double{w[i]};
    const double exact = double{w[i]} - 1e-3 * direction;
    EXPECT_LE(std::abs(double{updated[i]} - exact), std::abs(exact) / 128 + 1e-7);
  }
}

TEST(Adamw, RefusesWeightsOfAnotherType) {
  const Value x = parameter("x", {DType::kF32, {8}}), numbers = parameter("n", {DType::kF32, {9}});
  EXPECT_THROW(adamw({x, x, x, x, true, {1}}, numbers, parameter("key", {DType::kU32, {2}})),
               Error);
}

}  // namespace
}  // namespace hum::kernels
