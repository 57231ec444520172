#include "tests/parity/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/folders.h"
#include "base/testing/rule.h"
#include "runtime/testing.h"

namespace hum::parity {

using graph::DType;
using graph::Shape;
using graph::Value;
using runtime::HostTensor;

namespace {

std::vector<double> to_doubles(const HostTensor& tensor) {
  const auto all = [](const auto& elements) {
    return std::vector<double>(elements.begin(), elements.end());
  };
  if (tensor.dtype() == DType::kI32) return all(tensor.as<int32_t>());
  if (tensor.dtype() == DType::kU32) return all(tensor.as<uint32_t>());
  return all(tensor.to_floats());
}

}  // namespace

const Json& golden_cases(const std::string& file) {
  static std::map<std::string, Json> files;
  const auto [found, is_new] = files.try_emplace(file);
  if (is_new) {
    found->second = read_json(source_folder() / "tests/data/autodiff" / file).at("cases");
  }
  return found->second;
}

HostTensor ruled_tensor(const std::string& name, const graph::Dims& dims, double low, double high) {
  const auto count = static_cast<size_t>(Shape{DType::kF32, dims}.elements());
  const std::vector<float> values = testing::ruled(name, count, low, high);
  return HostTensor::of(dims, std::span<const float>(values));
}

HostTensor golden_input(const Json& spec, const std::string& name) {
  const auto type = spec[0].get<std::string>();
  const auto dims = spec[1].get<graph::Dims>();
  if (spec.size() == 4) {
    return ruled_tensor(name, dims, spec[2].get<double>(), spec[3].get<double>());
  }
  const auto given = [&]<typename T>(T) {
    const auto values = spec[2].get<std::vector<T>>();
    return HostTensor::of(dims, std::span<const T>(values));
  };
  if (type == "f32") return given(float{});
  if (type == "i32") return given(int32_t{});
  HUM_REQUIRE(type == "u32", "golden input of type {}", type);
  return given(uint32_t{});
}

Value Comparison::input(const std::string& name, HostTensor contents) {
  const Value made = graph::parameter(name, contents.shape());
  input(made, std::move(contents));
  return made;
}

void Comparison::input(const Value& parameter, HostTensor contents) {
  parameters_.push_back(parameter);
  contents_.push_back(std::move(contents));
}

graph::Values Comparison::cotangents(const std::string& name, const graph::Values& outputs) {
  graph::Values result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string own = name + "/cotangent/" + std::to_string(i);
    const bool has_one = graph::is_float(outputs[i].dtype());
    result.push_back(has_one ? input(own, ruled_tensor(own, outputs[i].dims())) : Value());
  }
  return result;
}

void Comparison::expect_values(std::string what, const Value& value, const Json& wanted,
                               double bound) {
  if (!value) {
    for (const Json& number : wanted) EXPECT_EQ(number.get<double>(), 0) << what << ": is absent";
    return;
  }
  expectations_.push_back({std::move(what), results_.size(), wanted, bound, ""});
  results_.push_back(value);
}

void Comparison::expect_projection(std::string what, const Value& value,
                                   const std::string& direction, const Json& wanted, double bound) {
  ASSERT_TRUE(bool(value)) << what << ": is absent";
  expectations_.push_back({std::move(what), results_.size(), wanted, bound, direction});
  results_.push_back(value);
}

void Comparison::check_values(const Expectation& expectation, const HostTensor& got) {
  const std::vector<double> values = to_doubles(got);
  const auto wanted = expectation.wanted.get<std::vector<double>>();
  ASSERT_EQ(values.size(), wanted.size()) << expectation.what;
  const bool exact = !graph::is_float(got.dtype());
  for (size_t i = 0; i < values.size(); ++i) {
    const double bound = exact ? 0 : expectation.bound * std::max(1.0, std::abs(wanted[i]));
    ASSERT_NEAR(values[i], wanted[i], bound) << expectation.what << ", element " << i;
  }
}

void Comparison::check_projection(const Expectation& expectation, const HostTensor& got) {
  const std::vector<double> values = to_doubles(got);
  const std::vector<float> direction = testing::ruled(expectation.direction, values.size());
  double square = 0, projection = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    square += values[i] * values[i];
    projection += values[i] * static_cast<double>(direction[i]);
  }
  const auto wanted = expectation.wanted.get<std::vector<double>>();
  const double bound = expectation.bound * wanted[0];
  EXPECT_NEAR(std::sqrt(square), wanted[0], bound) << expectation.what << ": norm";
  EXPECT_NEAR(projection, wanted[1], bound) << expectation.what << ": projection";
}

void Comparison::run() const {
  const auto results = runtime::evaluate(results_, parameters_, contents_);
  for (const Expectation& expectation : expectations_) {
    const HostTensor& got = results[expectation.result];
    expectation.direction.empty() ? check_values(expectation, got)
                                  : check_projection(expectation, got);
  }
}

}  // namespace hum::parity
