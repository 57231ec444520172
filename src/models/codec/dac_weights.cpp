#include "models/codec/dac_weights.h"

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "models/codec/dac.h"
#include "runtime/bind.h"

namespace hum::models::codec {
namespace fs = std::filesystem;
namespace {

using runtime::HostTensor;

constexpr const char* kWeight = ".weight";
constexpr const char* kMagnitude = ".weight_g";
constexpr const char* kDirection = ".weight_v";
// The names of the two in PyTorch's parametrizations.
constexpr const char* kNewMagnitude = ".parametrizations.weight.original0";
constexpr const char* kNewDirection = ".parametrizations.weight.original1";

// g v / |v|, with the norm over all dims but the first, summed in double.
HostTensor folded(const std::string& name, const HostTensor& g, const HostTensor& v,
                  const fs::path& folder) {
  const std::vector<float> magnitudes = g.to_floats();
  std::vector<float> kernel = v.to_floats();
  const size_t row = kernel.size() / magnitudes.size();
  for (size_t o = 0; o < magnitudes.size(); ++o) {
    const auto part = std::span(kernel).subspan(o * row, row);
    double square = 0;
    for (const float x : part) square += static_cast<double>(x) * x;
    if (square == 0) {
      fail(ExitCode::kBadData,
           fmt::format("{}: '{}' has no direction at index {}", folder.string(), name, o));
    }
    const double scale = magnitudes[o] / std::sqrt(square);
    for (float& x : part) x = static_cast<float>(x * scale);
  }
  return HostTensor::of(v.shape().dims, std::span<const float>(kernel));
}

class Reader {
 public:
  Reader(const fs::path& folder, const runtime::NamedTensors& tensors) : folder_(folder) {
    for (const auto& [name, tensor] : tensors) tensors_.emplace(name, &tensor);
  }

  HostTensor read(const nn::Parameter& parameter) {
    const std::string& name = parameter.name;
    const graph::Dims& dims = parameter.shape.dims;
    if (name.ends_with(kMagnitude)) return take(name, stem(name, kMagnitude) + kNewMagnitude, dims);
    if (name.ends_with(kDirection)) return take(name, stem(name, kDirection) + kNewDirection, dims);
    if (!name.ends_with(kWeight) || tensors_.contains(name)) return take(name, name, dims);
    const std::string conv = stem(name, kWeight);
    const HostTensor g = take(conv + kMagnitude, conv + kNewMagnitude, {dims[0], 1, 1});
    const HostTensor v = take(conv + kDirection, conv + kNewDirection, dims);
    return folded(conv + kDirection, g, v, folder_);
  }

  // Rejects tensors that no parameter uses, because the config then describes another model.
  void refuse_unused() const {
    for (const auto& [name, unused] : tensors_) {
      if (used_.contains(name)) continue;
      fail(ExitCode::kBadData,
           fmt::format("{}: the model has no place for tensor '{}'", folder_.string(), name),
           "config.json describes another model, or the folder holds more than one");
    }
  }

 private:
  static std::string stem(const std::string& name, std::string_view ending) {
    return name.substr(0, name.size() - ending.size());
  }

  // The tensor of that name (or the newer name) as f32.
  HostTensor take(const std::string& name, const std::string& newer, const graph::Dims& dims) {
    const auto found = tensors_.contains(name) ? tensors_.find(name) : tensors_.find(newer);
    if (found == tensors_.end()) {
      fail(ExitCode::kBadData, fmt::format("{}: no tensor '{}'", folder_.string(), name),
           "the weights belong to another model, or a shard is missing");
    }
    const HostTensor& tensor = *found->second;
    if (tensor.shape().dims != dims) {
      fail(ExitCode::kBadData,
           fmt::format("{}: tensor '{}' is {}, the model needs {}", folder_.string(), found->first,
                       tensor.shape(), graph::Shape{graph::DType::kF32, dims}),
           "the weights do not match their config.json");
    }
    used_.insert(found->first);
    const std::vector<float> values = tensor.to_floats();
    return HostTensor::of(dims, std::span<const float>(values));
  }

  const fs::path& folder_;
  std::map<std::string, const HostTensor*> tensors_;
  std::set<std::string> used_;
};

}  // namespace

DacCheckpoint read_dac(const fs::path& folder, DacWeights weights) {
  if (fs::is_regular_file(folder)) {
    fail(ExitCode::kBadData, folder.string() + ": not a folder of safetensors",
         "a published .pth file is a pickle, which hum does not read: tools/convert_dac.py turns "
         "it into such a folder");
  }
  const runtime::Weights stored = runtime::read_weights(folder);
  DacCheckpoint checkpoint;
  runtime::read_model_config(stored, "dac", folder, checkpoint.config);
  const ErrorContext context([&] { return "reading " + folder.string(); });
  const Dac model(checkpoint.config, weights);
  Reader reader(folder, stored.tensors);
  for (const nn::Parameter& parameter : model.parameters().all()) {
    checkpoint.tensors.push_back(reader.read(parameter));
  }
  reader.refuse_unused();
  return checkpoint;
}

}  // namespace hum::models::codec
