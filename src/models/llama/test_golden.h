// Reads the files of tools/golden/llama.py for a model: its configuration, weights by the same
// rule, and the results of transformers.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/folders.h"
#include "base/safetensors.h"
#include "models/llama/checkpoint_map.h"
#include "models/llama/folder.h"
#include "models/llama/model.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::llama {

inline std::filesystem::path golden_folder() { return source_folder() / "tests/data/llama"; }

// Norms are around one, biases around zero, and matrices keep the size of their inputs.
inline Checkpoint golden_checkpoint(const Json& source, uint64_t seed) {
  Checkpoint checkpoint{from_hugging_face(source), source, {}};
  const Llama model(checkpoint.config);
  for (const auto& parameter : model.parameters().all()) {
    const std::string name = hugging_face_name(parameter.name);
    const auto& dims = parameter.shape.dims;
    runtime::GoldenRange range{0.25, name.ends_with("bias") ? 0.0 : 1.0};
    if (dims.size() == 2) {
      const bool is_table = name.find("embed") != name.npos;
      range = {is_table ? 1 : std::sqrt(3 / static_cast<double>(dims[1])), 0};
    }
    checkpoint.tensors.push_back(runtime::golden_tensor(seed, name, dims, range));
  }
  return checkpoint;
}

struct Golden {
  Json source;
  uint64_t seed = 0;
  std::vector<int32_t> prompt, greedy;
  std::vector<float> logits_f32, logits_bf16;

  explicit Golden(const std::filesystem::path& file) {
    const auto metadata = SafetensorsFile::read(file).metadata();
    source = parse_json(metadata.at("config"));
    seed = std::stoull(metadata.at("seed"));
    for (const auto& [name, tensor] : runtime::read_tensors(file)) {
      if (name == "logits_f32") logits_f32 = tensor.to_floats();
      if (name == "logits_bf16") logits_bf16 = tensor.to_floats();
      for (auto* list : {&prompt, &greedy}) {
        if (name != (list == &prompt ? "prompt" : "greedy")) continue;
        const auto values = tensor.as<int32_t>();
        list->assign(values.begin(), values.end());
      }
    }
  }
};

}  // namespace hum::models::llama
