// Binds stored weights to a model's parameters: matches names, checks shapes, reads the model's
// config.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/fields_json.h"
#include "graph/value.h"
#include "runtime/weights.h"

namespace hum::runtime {

// Returns one f32 tensor per parameter, in the parameters' order. Throws kBadData naming the tensor
// and `folder` if a tensor is missing or has another shape.
std::vector<HostTensor> bind(std::span<const graph::Value> parameters, const NamedTensors& tensors,
                             const std::filesystem::path& folder);

// Removes the prefix that distinguishes hum's model types from other programs': "hum-coarse", as in
// config.json, and "coarse", as in training configurations, are the same type.
std::string_view plain_model_type(std::string_view model_type);

// Throws kBadData unless the folder's config.json names `model_type`, in either spelling.
void require_model_type(const Weights& weights, std::string_view model_type,
                        const std::filesystem::path& folder);

template <Fields Config>
void read_model_config(const Weights& weights, std::string_view model_type,
                       const std::filesystem::path& folder, Config& config) {
  require_model_type(weights, model_type, folder);
  const ErrorContext context([&] { return "reading " + (folder / "config.json").string(); });
  from_json(weights.config.at("model"), config);
}

}  // namespace hum::runtime
