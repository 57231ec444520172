#include "kernels/decoder_step/decoder_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/ops/elementwise.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Shape;
using graph::Value;
using runtime::HostTensor;

struct Case {
  int64_t layers, batch, width, groups, queries, head, half, positions, feed_forward;
  int32_t position;
  bool has_mask;
};

// The step, and inputs whose products keep the size of x.
struct Program {
  graph::Function function;
  std::vector<HostTensor> inputs;

  Value input(const std::string& name, const Shape& shape, double scale) {
    inputs.push_back(random_tensor(name, shape, scale));
    return function.parameters.emplace_back(parameter(name, shape));
  }
  Value weight(const std::string& name, DType dtype, int64_t out, int64_t in) {
    return input(name, {dtype, {out, in}}, 1 / std::sqrt(static_cast<double>(in)));
  }
};

DecoderLayer layer_of(Program& program, const Case& c, DType dtype, int64_t index) {
  const auto name = [&](const char* what) { return fmt::format("{}.{}", what, index); };
  const int64_t mixed = c.groups * c.queries * c.head, joined = mixed + 2 * c.groups * c.head;
  const Shape scale{DType::kF32, {c.width}};
  const Shape cache{dtype, {c.batch, c.positions, c.groups, c.head}};
  return {.attention_norm_D = program.input(name("attention_norm"), scale, 1),
          .qkv = program.weight(name("qkv"), dtype, joined, c.width),
          .out = program.weight(name("out"), dtype, c.width, mixed),
          .feed_forward_norm_D = program.input(name("feed_forward_norm"), scale, 1),
          .gate_up = program.weight(name("gate_up"), dtype, 2 * c.feed_forward, c.width),
          .down = program.weight(name("down"), dtype, c.width, c.feed_forward),
          .keys_BSGd = program.input(name("keys"), cache, 1),
          .values_BSGd = program.input(name("values"), cache, 1)};
}

Program program_of(const Case& c, DType dtype) {
  Program program{{.name = "decoder_step"}, {}};
  DecoderInputs in;
  in.x_B1D = program.input("x", {dtype, {c.batch, 1, c.width}}, 1);
  in.waves_12h = program.input("waves", {DType::kF32, {1, 2, c.half}}, 1);
  in.position = program.function.parameters.emplace_back(parameter("position", {DType::kI32, {}}));
  program.inputs.push_back(HostTensor::scalar(c.position));
  if (c.has_mask) {  // hides the keys whose random number is negative
    in.key_mask_BS = program.input("mask", {DType::kF32, {c.batch, c.positions}}, 1);
  }
  std::vector<DecoderLayer> layers;
  for (int64_t i = 0; i < c.layers; ++i) layers.push_back(layer_of(program, c, dtype, i));
  const DecoderStep step = decoder_step(in, layers, 1e-5);
  program.function.results = {step.y_B1D};
  for (const auto* values : {&step.keys_BSGd, &step.values_BSGd}) {
    program.function.results.insert(program.function.results.end(), values->begin(), values->end());
  }
  return program;
}

constexpr Case kCases[] = {{.layers = 1,
                            .batch = 1,
                            .width = 64,
                            .groups = 4,
                            .queries = 1,
                            .head = 16,
                            .half = 8,
                            .positions = 9,
                            .feed_forward = 48,
                            .position = 4,
                            .has_mask = false},
                           {.layers = 3,
                            .batch = 2,
                            .width = 144,
                            .groups = 2,
                            .queries = 3,
                            .head = 32,
                            .half = 5,
                            .positions = 40,
                            .feed_forward = 400,
                            .position = 39,
                            .has_mask = true},
                           {.layers = 2,
                            .batch = 4,
                            .width = 512,
                            .groups = 3,
                            .queries = 2,
                            .head = 80,
                            .half = 40,
                            .positions = 130,
                            .feed_forward = 1328,
                            .position = 0,
                            .has_mask = false},
                           {.layers = 1,
                            .batch = 7,
                            .width = 80,
                            .groups = 2,
                            .queries = 2,
                            .head = 32,
                            .half = 16,
                            .positions = 12,
                            .feed_forward = 112,
                            .position = 6,
                            .has_mask = true},
                           {.layers = 2,
                            .batch = 16,
                            .width = 256,
                            .groups = 4,
                            .queries = 1,
                            .head = 64,
                            .half = 32,
                            .positions = 20,
                            .feed_forward = 768,
                            .position = 11,
                            .has_mask = false},
                           {.layers = 2,
                            .batch = 1,
                            .width = 1024,
                            .groups = 16,
                            .queries = 1,
                            .head = 64,
                            .half = 32,
                            .positions = 320,
                            .feed_forward = 3840,
                            .position = 250,
                            .has_mask = true}};

constexpr const Case& kLargest = kCases[std::size(kCases) - 1];

TEST(DecoderStep, AgreesWithPlainOpsOverSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const Case& c : kCases) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Program program = program_of(c, dtype);
      const double tolerance = dtype == DType::kF32 ? 1e-5 : 1.0 / 64;
      expect_kernels_agree(program.function, program.inputs, tolerance, {"hum.decoder_step"});
    }
  }
}

// Sums do not depend on which thread computes them.
TEST(DecoderStep, GivesTheSameBitsEachTime) {
  HUM_NEEDS(Isa::kAvx2);
  const Program program = program_of(kLargest, DType::kBF16);
  const auto step = kernel_session().compile("decoder_step", program.function);
  const auto first = step.run(program.inputs);
  for (int i = 0; i < 20; ++i) {
    const auto again = step.run(program.inputs);
    for (size_t r = 0; r < first.size(); ++r) {
      EXPECT_EQ(again[r].to_floats(), first[r].to_floats());
    }
  }
}

TEST(DecoderStep, LeavesOtherSizesToTheKernelsOfTheOps) {
  HUM_NEEDS(Isa::kAvx2);
  Case many = kLargest, narrow = kLargest;
  many.batch = 17;
  narrow.head = 24;
  narrow.half = 12;
  for (const Case& c : {many, narrow}) {
    const Program program = program_of(c, DType::kF32);
    EXPECT_EQ(kernel_calls(program.function), KernelCalls());
    const KernelCounter counter;
    kernel_session().compile("decoder_step", program.function).run(program.inputs);
    EXPECT_FALSE(counter.calls().contains("hum.decoder_step"));
    EXPECT_TRUE(counter.calls().contains("hum.swiglu"));
  }
}

TEST(DecoderStep, RefusesOtherShapes) {
  const auto refused = [](const std::string& error, const auto& change) {
    Program program;
    DecoderInputs in{.x_B1D = parameter("x", {DType::kF32, {1, 1, 64}}),
                     .waves_12h = parameter("waves", {DType::kF32, {1, 2, 8}}),
                     .position = parameter("position", {DType::kI32, {}})};
    std::vector<DecoderLayer> layers;
    for (int64_t i = 0; i < 2; ++i) {
      layers.push_back(layer_of(program, kCases[0], DType::kF32, i));
    }
    change(in, layers);
    try {
      decoder_step(in, layers, 1e-5);
      ADD_FAILURE() << error;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("decoder_step: " + error));
    }
  };
  using Layers = std::vector<DecoderLayer>;
  refused("there are no layers", [](DecoderInputs&, Layers& layers) { layers.clear(); });
  refused("x is f32[1,2,64], not [B,1,D] of floats", [](DecoderInputs& in, Layers&) {
    in.x_B1D = parameter("x", {DType::kF32, {1, 2, 64}});
  });
  refused("the caches are f32[1,9,4,16], x is bf16[1,1,64]", [](DecoderInputs& in, Layers&) {
    in.x_B1D = parameter("x", {DType::kBF16, {1, 1, 64}});
  });
  refused("the key mask is not f32[B,S]", [](DecoderInputs& in, Layers&) {
    in.key_mask_BS = parameter("mask", {DType::kF32, {1, 8}});
  });
  refused("a layer's shapes differ or do not fit", [](DecoderInputs&, Layers& layers) {
    layers[1].down = parameter("down", {DType::kF32, {64, 32}});
  });
}

}  // namespace
}  // namespace hum::kernels
