#include "kernels/rotary/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

graph::Function program(graph::Shape x, int64_t half, int64_t members) {
  const auto waves = parameter("waves", {DType::kF32, {x.dims[1], 2, half}});
  graph::Function function = with_gradients(
      "rotary", {parameter("x", x)}, [&](auto in) { return rotate_heads(in[0], waves, members); });
  function.parameters.push_back(waves);
  return function;
}

TEST(RotateHeads, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  struct Case {
    graph::Dims x;
    int64_t half, members;
  };
  for (const Case& c : {Case{{2, 30, 4, 3, 64}, 32, 2},
                        {{3, 7, 5, 1, 48}, 24, 1},
                        {{1, 33, 2, 5, 80}, 16, 4},
                        {{2, 50, 3, 3, 22}, 7, 3}}) {
    expect_row_kernels_agree(
        [&](DType dtype) {
          return program({dtype, c.x}, c.half, c.members);
        },
        1e-6, 1.0 / 128, {"hum.rotate_heads", "hum.rotate_heads"});
  }
}

TEST(RotateHeads, RefusesOtherShapes) {
  const auto x = parameter("x", {DType::kF32, {2, 30, 4, 3, 64}});
  const auto refused = [&](const graph::Dims& waves, int64_t members) {
    try {
      rotate_heads(x, parameter("waves", {DType::kF32, waves}), members);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("rotate_heads: x f32[2,30,4,3,64]"));
    }
  };
  refused({30, 2, 33}, 2);
  refused({29, 2, 32}, 2);
  refused({30, 2, 32}, 0);
  refused({30, 2, 32}, 4);
}

}  // namespace
}  // namespace hum::kernels
