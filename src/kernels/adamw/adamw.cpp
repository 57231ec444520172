#include "kernels/adamw/adamw.h"

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/stochastic_rounding.h"
#include "graph/ops/table.h"
#include "kernels/adamw/adamw_impl.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

// With fused multiply-add, a product inside a sum may or may not be rounded. To keep plain ops and
// kernel bit-equal, a product inside a sum has no other use, and no sum has two products.
Values plain(std::span<const Value> in, bool decays, std::span<const uint32_t> streams) {
  const Value &numbers = in[4], &key = in[5];
  const auto number = [&](int i) {
    return graph::reshape(graph::slice(numbers, {i}, {i + 1}), {});
  };
  const Value w = graph::convert(in[0], DType::kF32), &m = in[1], &v = in[2];
  const Value g = graph::convert(in[3], DType::kF32);
  const Value mean = (m - m * number(kMeanLoss)) + g * number(kMeanGain);
  const Value square = (v - v * number(kSquareLoss)) + (g * g) * number(kSquareGain);
  Value direction =
      (mean * number(kUnbias1)) / (graph::sqrt(square * number(kUnbias2)) + number(kEpsilon));
  if (decays) direction = direction + w * number(kDecay);
  const Value updated = w - direction * number(kLearningRate);
  return {graph::round_stochastically(updated, key, streams), mean, square};
}

// The bf16 gradient before it was widened to f32, if there is one: half the bytes to read.
Value narrow_gradient(const Value& gradient) {
  const graph::Node& node = gradient.node();
  const bool widened = &node.op() == &graph::kConvertOp && node.input(0).dtype() == DType::kBF16;
  return widened ? node.input(0) : gradient;
}

}  // namespace

Value adamw_numbers(const AdamwStep& step, const AdamwSettings& settings) {
  const auto constant = [](double number) { return graph::constant(number, {DType::kF32, {}}); };
  Values numbers(kAdamwNumberCount);
  numbers[kMeanGain] = step.clip * (1 - settings.beta1);
  numbers[kMeanLoss] = constant(1 - settings.beta1);
  numbers[kSquareGain] = step.clip * step.clip * (1 - settings.beta2);
  numbers[kSquareLoss] = constant(1 - settings.beta2);
  numbers[kUnbias1] = step.unbias1;
  numbers[kUnbias2] = step.unbias2;
  numbers[kEpsilon] = constant(settings.epsilon);
  numbers[kDecay] = constant(settings.weight_decay);
  numbers[kLearningRate] = step.learning_rate;
  return graph::stack(numbers, 0);
}

AdamwResult adamw(const AdamwTensor& tensor, const Value& numbers, const Value& key,
                  std::source_location where) {
  const graph::Dims& dims = tensor.weights.dims();
  const graph::Shape wide{DType::kF32, dims};
  const auto parts = static_cast<int64_t>(tensor.streams.size());
  if (tensor.weights.dtype() != DType::kBF16 || tensor.mean.shape() != wide ||
      tensor.square.shape() != wide || tensor.gradient.shape() != wide || parts == 0 ||
      wide.elements() % parts != 0) {
    fail(ExitCode::kFailure,
         fmt::format("adamw: weights {} in {} parts do not fit moments {} and {} and gradient {}",
                     tensor.weights.shape(), parts, tensor.mean.shape(), tensor.square.shape(),
                     tensor.gradient.shape()),
         "weights must be bf16, the others f32", where);
  }
  graph::Attributes settings;
  settings.set("decays", tensor.decays);
  settings.set("streams", graph::Dims(tensor.streams.begin(), tensor.streams.end()));
  const Values results = graph::custom_call(
      kAdamwKernel.call.name,
      Values{tensor.weights, tensor.mean, tensor.square, narrow_gradient(tensor.gradient), numbers,
             key},
      settings, [&](std::span<const Value> in) { return plain(in, tensor.decays, tensor.streams); },
      {.output_operand_aliases = {{0, 0}, {1, 1}, {2, 2}}}, where);
  return {results[0], results[1], results[2]};
}

}  // namespace hum::kernels
