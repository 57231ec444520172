// Reads and writes named tensors in safetensors files, and released weights: a folder with
// config.json and one or more shards.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "runtime/host_tensor.h"

namespace hum::runtime {

using NamedTensors = std::vector<std::pair<std::string, HostTensor>>;

// Throws: kNoInput, kBadData (damaged file, or an element type that hum does not support).
NamedTensors read_tensors(const std::filesystem::path& file);
void write_tensors(const std::filesystem::path& file, const NamedTensors& tensors);

struct Weights {
  Json config;
  NamedTensors tensors;
};

// Reads config.json and every shard that model.safetensors.index.json lists (or model.safetensors).
// Throws: kNoInput; kBadData when a shard is damaged or does not have the hash that SHA256SUMS, if
// it is there, states for it. Weights of other programs have no such file.
Weights read_weights(const std::filesystem::path& folder);
// Checks before any work that write_weights can succeed. Throws kCannotCreate or kNoPermission if
// the folder cannot be created, or if it would replace one with other contents, such as the parent
// folder of several models' weights.
void require_weights_place(const std::filesystem::path& folder);
// f32 tensors are stored as `stored`; shards stay below max_shard_bytes. The folder is written
// under a temporary name, then renamed. SHA256SUMS holds the hashes of the shards.
void write_weights(const std::filesystem::path& folder, const Weights& weights,
                   graph::DType stored = graph::DType::kBF16, int64_t max_shard_bytes = 15 << 20);

// SHA-256 of a weights folder's SHA256SUMS, which read_weights compares with the shards: names the
// weights without reading them. Absent if the folder has none.
std::optional<std::string> sums_sha256(const std::filesystem::path& folder);

// SHA-256 of a weights folder's shards, concatenated in name order.
std::string shards_sha256(const std::filesystem::path& folder);

}  // namespace hum::runtime
