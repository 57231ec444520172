// Reads and writes a Hugging Face folder of a Llama: config.json, model.safetensors or its shards,
// tokenizer files.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/json.h"
#include "models/llama/config.h"
#include "runtime/host_tensor.h"

namespace hum::models::llama {

struct Checkpoint {
  LlamaConfig config;
  // As it was read, so that writing keeps fields that hum does not know.
  Json source;
  // f32, in the order of Llama(config).parameters().
  std::vector<runtime::HostTensor> tensors;
};

// Throws: kNoInput when config.json, a shard or all weights are missing; kBadData naming the file,
// field or tensor: pickle files, unknown architectures, tensors that are missing, unknown, of
// another shape, or hold NaN or infinity.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

// Writes a folder that transformers' AutoModelForCausalLM loads. Copies the tokenizer files and the
// generation config of `like`, if given. Throws kCannotCreate when `folder` holds something that is
// not a model.
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                      graph::DType stored, const std::filesystem::path& like = {},
                      int64_t max_shard_bytes = int64_t{5} << 30);

}  // namespace hum::models::llama
