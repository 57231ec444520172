// The runner behind op_test.h.
#include "graph/ops/op_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/bf16.h"
#include "base/rng.h"
#include "graph/op.h"
#include "runtime/testing.h"

namespace hum::graph::op_test {
namespace {

using runtime::HostTensor;

constexpr double kStep = 1e-5;  // of the central differences

// Calls f with every index of `dims`, in row-major order.
void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& f) {
  Dims index(dims.size(), 0);
  const int64_t count = Shape{DType::kF32, dims}.elements();
  for (int64_t i = 0; i < count; ++i) {
    f(index);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

double rounded(double number, DType dtype) {
  const auto single = static_cast<float>(number);
  if (dtype == DType::kBF16) return from_bf16(to_bf16(single));
  return dtype == DType::kF32 ? single : number;
}

template <typename T>
void store(std::span<const double> numbers, std::span<std::byte> bytes) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T element = static_cast<T>(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
}

template <typename T>
std::vector<double> load(const HostTensor& tensor) {
  const auto elements = tensor.as<T>();
  return {elements.begin(), elements.end()};
}

// The case's numbers, as the element type can hold them.
Array numbers(const Input& input, DType dtype, Rng& rng) {
  if (!input.values.empty()) {
    return {input.shape.dims, input.values};
  }
  return make_array(input.shape.dims, [&](const Dims&) -> double {
    if (is_float(dtype)) return rounded(rng.uniform(input.low, input.high), dtype);
    if (dtype == DType::kI1) return rng.chance(0.5) ? 1 : 0;
    return static_cast<double>(
        rng.integer(static_cast<int64_t>(input.low), static_cast<int64_t>(input.high)));
  });
}

// A module under construction, and what its results are compared with.
struct Module {
  Values parameters, results;
  std::vector<HostTensor> inputs;

  Value add_parameter(const Array& array, DType dtype) {
    parameters.push_back(parameter(fmt::format("p{}", parameters.size()), {dtype, array.dims}));
    inputs.push_back(to_tensor(array, dtype));
    return parameters.back();
  }
};

struct Expectation {
  std::string what;
  size_t result;  // index into Module::results
  Array wanted;
  double bound;
};

// Cotangents for every output, and the weighted sum of reference outputs they stand for.
double weighted_sum(const Arrays& outputs, const Arrays& weights) {
  double sum = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t i = 0; i < weights[o].data.size(); ++i) {
      sum += outputs[o].data[i] * weights[o].data[i];
    }
  }
  return sum;
}

Array central_differences(const Case& test, Arrays inputs, size_t wrt, const Arrays& weights) {
  Array gradient{inputs[wrt].dims, {}};
  for (double& element : inputs[wrt].data) {
    const double kept = element;
    element = kept + kStep;
    const double above = weighted_sum(test.reference(inputs), weights);
    element = kept - kStep;
    const double below = weighted_sum(test.reference(inputs), weights);
    element = kept;
    gradient.data.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

void add_gradients(const Case& test, const Arrays& arrays, const Values& inputs,
                   const Values& outputs, Rng& rng, Module& module,
                   std::vector<Expectation>& expectations) {
  Arrays weights;
  Values cotangents;
  for (const Value& output : outputs) {
    if (!is_float(output.dtype())) {  // no cotangent, no weight
      weights.push_back({output.dims(), {}});
      cotangents.emplace_back();
      continue;
    }
    weights.push_back(make_array(
        output.dims(), [&](const Dims&) { return rounded(rng.uniform(-1, 1), output.dtype()); }));
    cotangents.push_back(module.add_parameter(weights.back(), output.dtype()));
  }
  const Values found = pullback(outputs, cotangents, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = fmt::format("{}: gradient of input {}", test.name, i);
    if (test.gradient == Gradient::kNone || !is_float(inputs[i].dtype())) {
      EXPECT_FALSE(bool(found[i])) << what << " should be absent";
      continue;
    }
    ASSERT_TRUE(bool(found[i])) << what << " is absent";
    EXPECT_EQ(found[i].shape(), inputs[i].shape()) << what;
    expectations.push_back(
        {what, module.results.size(), central_differences(test, arrays, i, weights),
         inputs[i].dtype() == DType::kBF16 ? test.bounds.bf16_gradient : test.bounds.gradient});
    module.results.push_back(found[i]);
  }
}

void add_case(const Case& test, DType dtype, Module& module,
              std::vector<Expectation>& expectations) {
  Rng rng(7, test.name);
  Arrays arrays;
  Values inputs;
  for (const Input& input : test.inputs) {
    const DType own = input.shape.dtype == DType::kF32 ? dtype : input.shape.dtype;
    arrays.push_back(numbers(input, own, rng));
    inputs.push_back(module.add_parameter(arrays.back(), own));
  }
  const Values outputs = test.build(inputs);
  const Arrays wanted = test.reference(arrays);
  ASSERT_EQ(outputs.size(), wanted.size()) << test.name;
  for (size_t o = 0; o < outputs.size(); ++o) {
    ASSERT_EQ(outputs[o].dims(), wanted[o].dims) << test.name << " output " << o;
    const bool exact = !is_float(outputs[o].dtype());
    expectations.push_back({fmt::format("{}: output {}", test.name, o), module.results.size(),
                            wanted[o],
                            exact                   ? 0
                            : dtype == DType::kBF16 ? test.bounds.bf16_value
                                                    : test.bounds.value});
    module.results.push_back(outputs[o]);
  }
  if (test.gradient != Gradient::kUnchecked) {
    add_gradients(test, arrays, inputs, outputs, rng, module, expectations);
  }
}

void expect_near(const Expectation& expectation, const Array& got) {
  const Array& wanted = expectation.wanted;
  ASSERT_EQ(got.dims, wanted.dims) << expectation.what;
  for (size_t i = 0; i < wanted.data.size(); ++i) {
    const double bound = expectation.bound * std::max(1.0, std::abs(wanted.data[i]));
    const bool equal =
        got.data[i] == wanted.data[i] || (std::isnan(got.data[i]) && std::isnan(wanted.data[i]));
    ASSERT_TRUE(equal || std::abs(got.data[i] - wanted.data[i]) <= bound)
        << expectation.what << ", element " << i << ": got " << got.data[i] << ", wanted "
        << wanted.data[i] << " within " << bound;
  }
}

}  // namespace

HostTensor to_tensor(const Array& array, DType dtype) {
  if (is_float(dtype)) {
    const std::vector<float> floats(array.data.begin(), array.data.end());
    return HostTensor::from_floats(dtype, array.dims, floats);
  }
  HostTensor tensor(Shape{dtype, array.dims});
  if (dtype == DType::kI32) store<int32_t>(array.data, tensor.bytes());
  if (dtype == DType::kU32) store<uint32_t>(array.data, tensor.bytes());
  if (dtype == DType::kU8 || dtype == DType::kI1) store<uint8_t>(array.data, tensor.bytes());
  return tensor;
}

Array to_array(const HostTensor& tensor) {
  const Dims& dims = tensor.shape().dims;
  if (tensor.dtype() == DType::kI32) return {dims, load<int32_t>(tensor)};
  if (tensor.dtype() == DType::kU32) return {dims, load<uint32_t>(tensor)};
  const std::vector<float> floats = tensor.to_floats();
  return {dims, {floats.begin(), floats.end()}};
}

double Array::at(const Dims& index) const {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset = offset * dims[d] + index[d];
  return data.at(static_cast<size_t>(offset));
}

Array make_array(Dims dims, const std::function<double(const Dims& index)>& f) {
  Array array{std::move(dims), {}};
  for_each_index(array.dims, [&](const Dims& index) { array.data.push_back(f(index)); });
  return array;
}

Array map(const Array& a, const std::function<double(double)>& f) {
  Array result = a;
  for (double& element : result.data) element = f(element);
  return result;
}

Array map(const Array& a, const Array& b, const std::function<double(double, double)>& f) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  const auto size = [&](const Array& array, size_t d) {
    return d + array.dims.size() < rank ? int64_t{1} : array.dims[d + array.dims.size() - rank];
  };
  Dims dims;
  for (size_t d = 0; d < rank; ++d) dims.push_back(std::max(size(a, d), size(b, d)));
  const auto element = [&](const Array& array, const Dims& index) {
    Dims own(index.end() - static_cast<std::ptrdiff_t>(array.dims.size()), index.end());
    for (size_t d = 0; d < own.size(); ++d) own[d] = array.dims[d] == 1 ? 0 : own[d];
    return array.at(own);
  };
  return make_array(dims, [&](const Dims& i) { return f(element(a, i), element(b, i)); });
}

Value placed(Shape shape, AxisPlacement tensor, AxisPlacement data) {
  Placement placement;
  placement[Axis::kTensor] = tensor;
  placement[Axis::kData] = data;
  return parameter("x", std::move(shape), placement);
}

void expect_matches_reference(const Family& family, DType dtype) {
  Module module;
  std::vector<Expectation> expectations;
  for (const Case& test : family.cases) {
    if (dtype == DType::kBF16 && !test.in_bf16) continue;
    SCOPED_TRACE(test.name);
    add_case(test, dtype, module, expectations);
  }
  if (module.results.empty()) return;
  const auto results = runtime::evaluate(module.results, module.parameters, module.inputs);
  for (const Expectation& expectation : expectations) {
    expect_near(expectation, to_array(results[expectation.result]));
  }
}

}  // namespace hum::graph::op_test
