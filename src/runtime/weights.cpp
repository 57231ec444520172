#include "runtime/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/safetensors.h"

namespace hum::runtime {
namespace fs = std::filesystem;
namespace {

using graph::DType;

constexpr const char* kConfigFile = "config.json";
// As `sha256sum` writes it and `sha256sum -c` reads it.
constexpr const char* kSumsFile = "SHA256SUMS";
constexpr std::pair<DType, const char*> kNames[] = {{DType::kF32, "F32"}, {DType::kBF16, "BF16"},
                                                    {DType::kI32, "I32"}, {DType::kU32, "U32"},
                                                    {DType::kU8, "U8"},   {DType::kI1, "BOOL"}};

const char* stored_name(DType dtype) {
  return std::ranges::find(kNames, dtype, &std::pair<DType, const char*>::first)->second;
}

// IEEE half precision; every value is exact in f32.
float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float magnitude = std::ldexp(static_cast<float>(fraction + (exponent > 0 ? 1024 : 0)),
                               std::max(exponent, 1) - 25);
  if (exponent == 31) {
    magnitude = fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                              : std::numeric_limits<float>::infinity();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

HostTensor from_halves(const SafeTensor& tensor) {
  HostTensor result({DType::kF32, tensor.dims});
  const auto values = result.as<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * sizeof bits, sizeof bits);
    values[i] = half_to_float(bits);
  }
  return result;
}

HostTensor to_host_tensor(const fs::path& file, const SafeTensor& tensor) {
  if (tensor.dtype == "F16") return from_halves(tensor);
  const auto found =
      std::ranges::find_if(kNames, [&](const auto& entry) { return tensor.dtype == entry.second; });
  if (found == std::end(kNames)) {
    fail(ExitCode::kBadData,
         fmt::format("{}: tensor '{}' has element type {}", file.string(), tensor.name,
                     tensor.dtype),
         "hum reads F32, BF16, F16 (as F32), I32, U32, U8 and BOOL");
  }
  return {{found->first, tensor.dims}, {tensor.bytes.begin(), tensor.bytes.end()}};
}

// Tensors in order, packed greedily into groups below the limit.
std::vector<NamedTensors> shards_of(const NamedTensors& tensors, int64_t max_shard_bytes) {
  std::vector<NamedTensors> shards(1);
  int64_t bytes = 0;
  for (const auto& entry : tensors) {
    const auto size = static_cast<int64_t>(entry.second.bytes().size());
    if (bytes > 0 && bytes + size > max_shard_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += size;
    shards.back().push_back(entry);
  }
  return shards;
}

std::vector<std::string> shard_files(const fs::path& folder) {
  const fs::path index = folder / "model.safetensors.index.json";
  if (!fs::exists(index)) return {"model.safetensors"};
  std::set<std::string> files;
  const Json parsed = read_json(index);
  const auto map = parsed.find("weight_map");
  if (map == parsed.end() || !map->is_object()) {
    fail(ExitCode::kBadData, index.string() + ": no weight_map");
  }
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string()) fail(ExitCode::kBadData, index.string() + ": not a weight_map");
    files.insert(file.get<std::string>());
  }
  for (const std::string& file : files) {
    if (fs::path(file).filename() != file) {
      fail(ExitCode::kBadData,
           fmt::format("{}: '{}' lies outside the folder", index.string(), file));
    }
    if (fs::exists(folder / file)) continue;
    fail(ExitCode::kNoInput, fmt::format("{}: shard '{}' is missing", folder.string(), file),
         fmt::format("{} names {} shards", index.filename().string(), files.size()));
  }
  return {files.begin(), files.end()};
}

NamedTensors named_tensors(const fs::path& file, const SafetensorsFile& contents) {
  NamedTensors tensors;
  for (const auto& tensor : contents.tensors()) {
    tensors.emplace_back(tensor.name, to_host_tensor(file, tensor));
  }
  return tensors;
}

using Sums = std::map<std::string, std::string>;  // of files, by name

// Absent if the folder has none.
std::optional<Sums> read_sums(const fs::path& folder) {
  const fs::path path = folder / kSumsFile;
  if (!fs::exists(path)) return std::nullopt;
  std::istringstream lines(read_file(path));
  Sums sums;
  for (std::string sum, name; lines >> sum >> name;) {
    if (name.starts_with('*')) name.erase(0, 1);  // sha256sum marks binary files
    sums[name] = sum;
  }
  return sums;
}

void require_sum(const fs::path& folder, const std::string& file, const SafetensorsFile& contents,
                 const Sums& sums) {
  const auto found = sums.find(file);
  if (found != sums.end() && found->second == contents.sha256()) return;
  fail(ExitCode::kBadData,
       fmt::format("{}: {}", (folder / file).string(),
                   found == sums.end()
                       ? fmt::format("is not in {}", kSumsFile)
                       : fmt::format("is not the file that {} describes", kSumsFile)),
       fmt::format("copy or download the weights again; if they were changed on purpose, remove {}",
                   kSumsFile));
}

}  // namespace

NamedTensors read_tensors(const fs::path& file) {
  return named_tensors(file, SafetensorsFile::read(file));
}

void write_tensors(const fs::path& file, const NamedTensors& tensors) {
  std::vector<SafeTensor> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({name, stored_name(tensor.dtype()), tensor.shape().dims, tensor.bytes()});
  }
  write_safetensors(file, entries);
}

Weights read_weights(const fs::path& folder) {
  require_folder(
      folder,
      "a folder of weights holds a folder of each model; --weights or HUM_WEIGHTS names it");
  Weights weights{read_json(folder / kConfigFile), {}};
  const auto sums = read_sums(folder);
  for (const std::string& file : shard_files(folder)) {
    const auto contents = SafetensorsFile::read(folder / file);
    if (sums) require_sum(folder, file, contents, *sums);
    for (auto& entry : named_tensors(folder / file, contents)) {
      weights.tensors.push_back(std::move(entry));
    }
  }
  return weights;
}

void require_weights_place(const fs::path& folder) {
  const AtomicFolder probe(folder, kConfigFile);
}

void write_weights(const fs::path& folder, const Weights& weights, DType stored,
                   int64_t max_shard_bytes) {
  NamedTensors converted;
  for (const auto& [name, tensor] : weights.tensors) {
    const bool convert = tensor.dtype() == DType::kF32 && stored != DType::kF32;
    converted.emplace_back(
        name, convert ? HostTensor::from_floats(stored, tensor.shape().dims, tensor.as<float>())
                      : tensor);
  }
  AtomicFolder atomic(folder, kConfigFile);
  const fs::path& aside = atomic.temporary_path();
  const auto shards = shards_of(converted, max_shard_bytes);
  std::string sums;
  Json index = {{"metadata", Json::object()}, {"weight_map", Json::object()}};
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string file = shards.size() == 1 ? "model.safetensors"
                                                : fmt::format("model-{:05d}-of-{:05d}.safetensors",
                                                              i + 1, shards.size());
    write_tensors(aside / file, shards[i]);
    sums += fmt::format("{}  {}\n", sha256_file(aside / file), file);
    for (const auto& entry : shards[i]) index["weight_map"][entry.first] = file;
  }
  if (shards.size() > 1) write_json(aside / "model.safetensors.index.json", index);
  write_file(aside / kSumsFile, sums);
  write_json(aside / kConfigFile, weights.config);
  if (fs::exists(folder / "README.md")) {
    fs::copy_file(folder / "README.md", aside / "README.md");  // the model card is hand-written
  }
  atomic.commit();
}

std::optional<std::string> sums_sha256(const fs::path& folder) {
  const fs::path path = folder / kSumsFile;
  if (!fs::exists(path)) return std::nullopt;
  return sha256_file(path);
}

std::string shards_sha256(const fs::path& folder) {
  std::set<fs::path> shards;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") shards.insert(entry.path());
  }
  std::string bytes;
  for (const auto& shard : shards) bytes += read_file(shard);
  return sha256(bytes);
}

}  // namespace hum::runtime
