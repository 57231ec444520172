// For tests only: golden values of Descript's codec, and the generated weights behind them
// (tools/golden/dac_codec.py).
#pragma once

#include <string>

#include "base/folders.h"
#include "base/json.h"
#include "base/testing/rule.h"
#include "models/codec/dac_config.h"
#include "runtime/host_tensor.h"

namespace hum::models::codec {

inline Json dac_golden(const char* file) {
  return read_json(source_folder() / "tests/data/dac" / file);
}

// The weight of parameter `name` of the model `model` ("even", "odd").
inline runtime::HostTensor dac_test_weight(const std::string& model, const DacConfig& config,
                                           const std::string& name, const graph::Dims& dims) {
  double low = -1, high = 1;
  if (name.ends_with(".bias")) low = -0.1, high = 0.1;
  if (name.ends_with(".alpha")) low = 0.3, high = 2;
  if (name.ends_with(".weight_g")) low = 0.5, high = 1;
  // Quiet enough that tanh does not hide differences.
  const std::string last = "decoder.model." + std::to_string(config.decoder_rates.size() + 2);
  const float scale = name == last + ".weight_g" ? 0.3F : 1.0F;
  const auto count = static_cast<size_t>(graph::Shape{graph::DType::kF32, dims}.elements());
  std::vector<float> values = testing::ruled(model + "/" + name, count, low, high);
  for (float& value : values) value *= scale;
  return runtime::HostTensor::of(dims, std::span<const float>(values));
}

}  // namespace hum::models::codec
