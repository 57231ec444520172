#include "nn/parameters.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace hum::nn {

graph::Value ParameterList::declare(std::string name, graph::Dims dims, Init init) {
  return add({std::move(name), {graph::DType::kF32, std::move(dims)}, init, true, {}});
}

graph::Value ParameterList::declare_buffer(std::string name, graph::Dims dims, Init init) {
  return add({std::move(name), {graph::DType::kF32, std::move(dims)}, init, false, {}});
}

graph::Value ParameterList::add(Parameter parameter) {
  HUM_CHECK(std::ranges::find(parameters_, parameter.name, &Parameter::name) == parameters_.end(),
            "parameter '{}' is declared twice", parameter.name);
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

std::vector<float> initial_elements(const Parameter& parameter, uint64_t seed) {
  std::vector<float> elements(static_cast<size_t>(parameter.shape.elements()));
  const Init& init = parameter.init;
  Rng rng(seed, parameter.name);
  for (float& element : elements) {
    switch (init.kind) {
      case Init::Kind::kZeros:
        break;
      case Init::Kind::kOnes:
        element = 1;
        break;
      case Init::Kind::kUniform:
        element = static_cast<float>(rng.uniform(-init.scale, init.scale));
        break;
      case Init::Kind::kNormal: {
        double draw = rng.normal();
        while (std::abs(draw) > 2) draw = rng.normal();
        element = static_cast<float>(draw * init.scale);
        break;
      }
    }
  }
  return elements;
}

}  // namespace hum::nn
