#include "nn/parameters.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "graph/ops/shape_ops.h"
#include "nn/normal_draws.h"

namespace hum::nn {

graph::Shape ParameterList::stored(graph::Dims dims) const {
  return {dims.size() >= 2 ? storage_.matrices : graph::DType::kF32, std::move(dims)};
}

graph::Value ParameterList::declare(std::string name, graph::Dims dims, Init init) {
  joined_values_.push_back(add({std::move(name), stored(std::move(dims)), init, true, {}}));
  return joined_values_.back();
}

graph::Value ParameterList::declare_hidden(std::string name, graph::Dims dims, Init init) {
  HUM_REQUIRE(dims.size() == 2, "{}: a hidden matrix has two dims, not {}", name, dims.size());
  const graph::Value value = declare(std::move(name), std::move(dims), init);
  parameters_.back().hidden = true;
  return value;
}

graph::Value ParameterList::declare_buffer(std::string name, graph::Dims dims, Init init) {
  joined_values_.push_back(
      add({std::move(name), {graph::DType::kF32, std::move(dims)}, init, false, {}}));
  return joined_values_.back();
}

graph::Value ParameterList::declare_joined(const std::string& prefix, const std::string& name,
                                           const std::vector<JoinedPart>& parts, graph::Dims dims) {
  if (storage_.joined) return declare(prefix + name, std::move(dims), parts[0].init);
  graph::Values laid_out;
  for (const JoinedPart& part : parts) {
    const graph::Value value =
        add({prefix + part.name, stored(part.dims), part.init, true, {}, part.hidden});
    laid_out.push_back(graph::reshape(value, part.laid_out));
  }
  joined_values_.push_back(graph::reshape(graph::concatenate(laid_out, 1), std::move(dims)));
  return joined_values_.back();
}

void ParameterList::include(const std::string& prefix, const ParameterList& other) {
  for (Parameter parameter : other.parameters_) {
    parameter.name = prefix + parameter.name;
    require_new(parameter.name);
    parameters_.push_back(std::move(parameter));
  }
  joined_values_.insert(joined_values_.end(), other.joined_values_.begin(),
                        other.joined_values_.end());
}

void ParameterList::require_new(const std::string& name) const {
  HUM_CHECK(std::ranges::find(parameters_, name, &Parameter::name) == parameters_.end(),
            "parameter '{}' is declared twice", name);
}

graph::Value ParameterList::add(Parameter parameter) {
  require_new(parameter.name);
  parameter.value = graph::parameter(parameter.name, parameter.shape);
  parameters_.push_back(std::move(parameter));
  return parameters_.back().value;
}

graph::Values ParameterList::values() const {
  graph::Values values;
  for (const auto& parameter : parameters_) values.push_back(parameter.value);
  return values;
}

int64_t ParameterList::element_count() const {
  int64_t count = 0;
  for (const auto& parameter : parameters_) count += parameter.shape.elements();
  return count;
}

void initial_elements(const Parameter& parameter, uint64_t seed, std::span<float> elements) {
  HUM_REQUIRE(std::ssize(elements) == parameter.shape.elements(), "{}: {} elements for {}",
              parameter.name, elements.size(), parameter.shape);
  const Init& init = parameter.init;
  const auto key = stream_key(seed, parameter.name, 0);
  switch (init.kind) {
    case Init::Kind::kZeros:
      std::ranges::fill(elements, 0.0F);
      return;
    case Init::Kind::kOnes:
      std::ranges::fill(elements, 1.0F);
      return;
    case Init::Kind::kUniform: {
      Rng rng(key);
      for (float& x : elements) x = static_cast<float>(rng.uniform(-init.scale, init.scale));
      return;
    }
    case Init::Kind::kNormal:
      truncated_normals(key, init.scale, elements);
      return;
  }
}

std::vector<float> initial_elements(const Parameter& parameter, uint64_t seed) {
  std::vector<float> elements(static_cast<size_t>(parameter.shape.elements()));
  initial_elements(parameter, seed, elements);
  return elements;
}

}  // namespace hum::nn
