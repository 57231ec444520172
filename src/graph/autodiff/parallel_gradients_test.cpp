// Gradients on a mesh of four devices against those of the same model on one, written without
// collectives; what must not type-check; and what happens when a collective is taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/autodiff/mesh_test.h"
#include "graph/op.h"
#include "graph/ops.h"
#include "graph/ops/place_as.h"
#include "graph/passes/rewrite.h"
#include "graph/stablehlo/print.h"

namespace hum::graph::mesh_test {
namespace {

using ::testing::HasSubstr;

constexpr Axis kData = Axis::kData, kTensor = Axis::kTensor;

Value square_mean(const Value& x) { return mean_all(x * x); }

// x + down(gelu(up(x))): columns cut, then rows cut, one all_reduce.
std::vector<Global> mlp_globals(AxisPlacement batch = kReplicated) {
  return {random_global({4, 6}, on_data(batch), 1), random_global({6, 8}, on_tensor(sharded(1)), 2),
          random_global({8}, on_tensor(sharded(0)), 3),
          random_global({8, 6}, on_tensor(sharded(0)), 4), random_global({6}, {}, 5)};
}
Value mlp(std::span<const Value> in, const Mesh&, const Value&) {
  const Value inner = gelu_new(matmul(in[0], in[1]) + in[2]);
  return square_mean(in[0] + all_reduce(matmul(inner, in[3]), kTensor) + in[4]);
}
Value plain_mlp(std::span<const Value> in) {
  return square_mean(in[0] + matmul(gelu_new(matmul(in[0], in[1]) + in[2]), in[3]) + in[4]);
}

TEST(TensorParallelMlp, HasTheGradientsOfOneDevice) {
  expect_equal_gradients(mlp_globals(), {1, 4}, mlp, plain_mlp);
}

// The block's input gradient leaves it as a partial sum.
TEST(TensorParallelMlp, HasTheSameGradientsWhenItsBlockIsRecomputed) {
  const Parallel model = [](std::span<const Value> in, const Mesh&, const Value&) {
    const Value part = checkpoint(RecomputePolicy::kFull, Values{in[0]}, [&](auto x) {
      return Values{matmul(gelu_new(matmul(x[0], in[1]) + in[2]), in[3])};
    })[0];
    return square_mean(in[0] + all_reduce(part, kTensor) + in[4]);
  };
  expect_equal_gradients(mlp_globals(), {1, 4}, model, plain_mlp);
}

// Gradients of what every data rank holds come as partial sums, and are averaged.
TEST(TensorAndDataParallelMlp, HasTheGradientsOfOneDevice) {
  const std::vector<Global> globals = mlp_globals(sharded(0));
  const auto finish = [](Values found, const Mesh& mesh) {
    // Of x, each device has its own rows: only the mean's 1/n is missing.
    Values results = {found[0] * (1.0 / mesh.data)};
    for (size_t i = 1; i < found.size(); ++i) {
      EXPECT_EQ(found[i].placement()[kData], kPartial);
      results.push_back(mean_over({found[i]}, kData, mesh)[0]);
    }
    return results;
  };
  expect_equal_gradients(globals, {2, 2}, mlp, plain_mlp, finish);
}

Value norm(const Value& x, const Value& scale) {
  return x * rsqrt(mean(x * x, {-1}, /*keepdims=*/true) + 1e-5) * scale;
}

// The sequence is cut between the blocks, the features inside; the norm's weight is whole.
TEST(SequenceParallelNorm, HasTheGradientsOfOneDevice) {
  const std::vector<Global> globals = {random_global({2, 8, 6}, on_tensor(sharded(1)), 1),
                                       random_global({6}, {}, 2),
                                       random_global({6, 8}, on_tensor(sharded(1)), 3),
                                       random_global({8, 6}, on_tensor(sharded(0)), 4)};
  const Parallel model = [](std::span<const Value> in, const Mesh& mesh, const Value&) {
    const Value whole = all_gather(norm(in[0], in[1]), kTensor, 1, mesh);
    const Value inner = silu(matmul(whole, in[2]));
    const Value y = in[0] + reduce_scatter(matmul(inner, in[3]), kTensor, 1, mesh);
    return all_reduce(square_mean(y), kTensor) * (1.0 / mesh.tensor);
  };
  const Plain plain = [](std::span<const Value> in) {
    return square_mean(in[0] + matmul(silu(matmul(norm(in[0], in[1]), in[2])), in[3]));
  };
  const Finish finish = [](Values found, const Mesh&) {
    EXPECT_EQ(found[1].placement()[kTensor], kPartial);  // the norm's weight meets cut activations
    found[1] = all_reduce(found[1], kTensor);
    return found;
  };
  expect_equal_gradients(globals, {1, 4}, model, plain, finish);
  // all_gather's gradient scatters the partial sums as they are: no all_reduce but the loss's.
  const Function traced = trace(globals, {1, 4}, model, [](Values found, const Mesh&) {
    found.erase(found.begin() + 1, found.end());
    return found;
  });
  const std::string text = print_module(traced, {.replicas = 4});
  size_t all_reduces = 0;
  for (size_t at = text.find("all_reduce"); at != std::string::npos;
       at = text.find("all_reduce", at + 1)) {
    ++all_reduces;
  }
  EXPECT_EQ(all_reduces, 1u);
}

// Each device has a part of the vocabulary; the largest logit is only for stability.
TEST(VocabularyParallelCrossEntropy, HasTheGradientsOfOneDevice) {
  constexpr int64_t kVocabulary = 12;
  const std::vector<Global> globals = {random_global({5, 6}, {}, 1),
                                       random_global({6, kVocabulary}, on_tensor(sharded(1)), 2),
                                       ids_global({5}, {}, kVocabulary)};
  const Parallel model = [](std::span<const Value> in, const Mesh& mesh, const Value& replica) {
    const Value logits = matmul(in[0], in[1]);
    const Value own = shard(iota({DType::kI32, {kVocabulary}}, 0), kTensor, 0, mesh, replica);
    const Value peak = all_reduce(reduce_max(stop_gradient(logits), {1}), kTensor, Reduction::kMax);
    const Value shifted = logits - reshape(peak, {5, 1});
    const Value total = all_reduce(reduce_sum(exponential(shifted), {1}), kTensor);
    const Value is_target = equal(reshape(in[2], {5, 1}), own);
    const Value target = all_reduce(reduce_sum(select(is_target, shifted, 0), {1}), kTensor);
    return mean_all(log(total) - target);
  };
  const Plain plain = [](std::span<const Value> in) {
    return mean_all(softmax_cross_entropy(matmul(in[0], in[1]), in[2]));
  };
  // Each device knows what its part of the vocabulary wants of the hidden states.
  const Finish finish = [](Values found, const Mesh&) {
    return Values{all_reduce(found[0], kTensor), found[1]};
  };
  expect_equal_gradients(globals, {1, 4}, model, plain, finish);
}

TEST(DataParallelMean, HasTheGradientsOfOneDevice) {
  const std::vector<Global> globals = {random_global({8, 3}, on_data(sharded(0)), 1),
                                       random_global({3, 2}, {}, 2)};
  const Parallel model = [](std::span<const Value> in, const Mesh&, const Value&) {
    return square_mean(tanh(matmul(in[0], in[1])));
  };
  const Plain plain = [](std::span<const Value> in) {
    return square_mean(tanh(matmul(in[0], in[1])));
  };
  const Finish finish = [](Values found, const Mesh& mesh) {
    return Values{found[0] * (1.0 / mesh.data), mean_over({found[1]}, kData, mesh)[0]};
  };
  expect_equal_gradients(globals, {4, 1}, model, plain, finish);
}

// A scan over layers: its weights' gradients stay cut, its carry's are reduced in each step.
TEST(TensorParallelScan, HasTheGradientsOfOneDevice) {
  const std::vector<Global> globals = {
      random_global({4, 6}, {}, 1), random_global({3, 6, 8}, on_tensor(sharded(2)), 2),
      random_global({3, 8, 6}, on_tensor(sharded(1)), 3), random_global({6}, {}, 4)};
  const auto model = [](std::span<const Value> in, bool parallel) {
    const auto layers = scan(3, in.first(1), in.subspan(1, 2), [&](const ScanStep& step) {
      const Value x = step.carry[0] * in[3];
      const Value y = matmul(tanh(matmul(x, step.xs[0])), step.xs[1]);
      return ScanResult{{step.carry[0] + (parallel ? all_reduce(y, kTensor) : y)}, {}};
    });
    return square_mean(layers.carry[0]);
  };
  expect_equal_gradients(
      globals, {1, 4}, [&](auto in, const Mesh&, const Value&) { return model(in, true); },
      [&](auto in) { return model(in, false); });
}

std::string refusal(const std::function<void()>& build) {
  try {
    build();
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

TEST(Placements, RefuseWrongPrograms) {
  const Value p = parameter("p", {DType::kF32, {4}}, on_tensor(kPartial)),
              r = parameter("r", {DType::kF32, {4}});
  EXPECT_THAT(refusal([&] { p* p; }), HasSubstr("multiply: a partial sum over mesh axis 1"));
  EXPECT_THAT(refusal([&] { p + r; }), HasSubstr("add: a partial sum over mesh axis 1"));
  EXPECT_THAT(refusal([&] { tanh(p); }), HasSubstr("tanh: a partial sum over mesh axis 1"));
  EXPECT_THAT(refusal([&] { require_same_placement(p, r); }),
              HasSubstr("the gradient f32[4] is placed data: R, tensor: P, its parameter "
                        "replicated"));
  EXPECT_THAT(refusal([&] { require_same_placement(p, r); }), HasSubstr("hint: all_reduce"));
}

// Taking a collective away from the tensor-parallel MLP: what the user writes is refused while the
// graph is built; what autodiff adds changes the gradients.
TEST(TensorParallelMlp, NeedsEveryCollective) {
  const std::vector<Global> globals = mlp_globals();
  EXPECT_THAT(refusal([&] {
                trace(
                    globals, {1, 4},
                    [](std::span<const Value> in, const Mesh&, const Value&) {
                      const Value inner = gelu_new(matmul(in[0], in[1]) + in[2]);
                      return square_mean(in[0] + matmul(inner, in[3]) + in[4]);
                    },
                    as_they_are);
              }),
              HasSubstr("add: a partial sum over mesh axis 1"));
  const Function whole = trace(globals, {1, 4}, mlp, as_they_are);
  std::vector<const Node*> collectives;
  for (const Node* node : topological_order(whole.results)) {
    if (node->op().name == "all_reduce") collectives.push_back(node);
  }
  ASSERT_EQ(collectives.size(), 2u);  // forward, and of x's cotangent
  const auto wanted = plain_gradients(globals, plain_mlp);
  for (const Node* missing : collectives) {
    Function mutant = whole;
    mutant.results = rewrite(whole.results,
                             [&](const Node& node, const Values& inputs) -> std::optional<Values> {
                               if (&node != missing) return {};
                               return Values{place_as(inputs[0], node.placements()[0])};
                             });
    EXPECT_GT(largest_difference(run(mutant, globals), wanted, globals, {1, 4}), 1e-3);
  }
}

}  // namespace
}  // namespace hum::graph::mesh_test
