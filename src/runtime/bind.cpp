#include "runtime/bind.h"

#include <algorithm>

#include "base/error.h"
#include "graph/ops/structure.h"

namespace hum::runtime {

std::vector<HostTensor> bind(std::span<const graph::Value> parameters, const NamedTensors& tensors,
                             const std::filesystem::path& folder) {
  std::vector<HostTensor> bound;
  for (const graph::Value& parameter : parameters) {
    const std::string& name = graph::parameter_name(parameter.node());
    const auto found = std::ranges::find(tensors, name, &NamedTensors::value_type::first);
    if (found == tensors.end()) {
      fail(ExitCode::kBadData, fmt::format("{}: no tensor '{}'", folder.string(), name),
           "the weights belong to another model, or a shard is missing");
    }
    if (found->second.shape().dims != parameter.dims()) {
      fail(ExitCode::kBadData,
           fmt::format("{}: tensor '{}' is {}, the model expects {}", folder.string(), name,
                       found->second.shape(), parameter.shape()),
           "the weights do not match config.json");
    }
    bound.push_back(found->second.to_f32());
  }
  return bound;
}

std::string_view plain_model_type(std::string_view model_type) {
  constexpr std::string_view kOurs = "hum-";
  return model_type.starts_with(kOurs) ? model_type.substr(kOurs.size()) : model_type;
}

void require_model_type(const Weights& weights, std::string_view model_type,
                        const std::filesystem::path& folder) {
  const std::string found = weights.config.value("model_type", "nothing");
  if (plain_model_type(found) == plain_model_type(model_type) && weights.config.contains("model"))
    return;
  fail(ExitCode::kBadData,
       fmt::format("{}: config.json has model_type '{}'; expected '{}'", folder.string(), found,
                   model_type),
       "name a folder that `hum train` wrote");
}

}  // namespace hum::runtime
