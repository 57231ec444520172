#include "app/play/stored_decays.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/safetensors.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::LateDecay;

constexpr const char* kFile = "decays.safetensors";
constexpr const char* kFormat = "hum-decays";
constexpr const char* kVersion = "1";

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  fail(ExitCode::kBadData, fmt::format("{}: not a file of decays: {}", file.string(), why),
       "hum data references stores the decays of presets again");
}

}  // namespace

void write_decays(const fs::path& references, std::span<const PresetDecay> decays) {
  std::vector<std::vector<float>> tables;
  std::vector<SafeTensor> tensors;
  for (const auto& [preset, decay] : decays) {
    if (decay.is_steady()) continue;
    tables.push_back(decay.table());
    // The bytes stay where they are when `tables` grows.
    tensors.push_back(
        {.name = preset,
         .dtype = "F32",
         .dims = {std::ssize(tables.back()) / LateDecay::kTableColumns, LateDecay::kTableColumns},
         .bytes = std::as_bytes(std::span(tables.back()))});
  }
  write_safetensors(references / kFile, tensors, {{"hum_format", kFormat}, {"version", kVersion}});
}

std::shared_ptr<const LateDecay> stored_decay(const fs::path& weights, const data::Preset& preset) {
  const fs::path file = models::weights_part(weights, "references") / kFile;
  if (!fs::exists(file)) return nullptr;
  const auto contents = SafetensorsFile::read(file);
  const auto has = [&](const char* key, const char* value) {
    const auto found = contents.metadata().find(key);
    return found != contents.metadata().end() && found->second == value;
  };
  if (!has("hum_format", kFormat) || !has("version", kVersion)) refuse(file, "another format");
  const auto tensor = std::ranges::find(contents.tensors(), preset.name, &SafeTensor::name);
  if (tensor == contents.tensors().end()) return nullptr;
  if (tensor->dtype != "F32" || tensor->dims.size() != 2 ||
      tensor->dims[1] != LateDecay::kTableColumns) {
    refuse(file,
           fmt::format("'{}' must be F32 [notes, {}]", preset.name, LateDecay::kTableColumns));
  }
  std::vector<float> rows(tensor->bytes.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(rows.data(), tensor->bytes.data(), tensor->bytes.size());
  auto decay = LateDecay::of_table(rows);
  if (!decay) refuse(file, fmt::format("a value of '{}' is out of range", preset.name));
  return std::make_shared<const LateDecay>(std::move(*decay));
}

}  // namespace hum::app
