#include "app/play/stored_residuals.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "app/play/references.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/safetensors.h"
#include "models/humming/draft_model.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::Residual;

constexpr const char* kFile = "residuals.safetensors";
constexpr const char* kFormat = "hum-residuals";
constexpr const char* kVersion = "1";
constexpr const char* kDrafter = "drafter_sha256";

std::string reference_key(std::string_view preset) {
  return fmt::format("{}.reference_sha256", preset);
}

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  fail(ExitCode::kBadData, fmt::format("{}: not a file of residuals: {}", file.string(), why),
       "hum data references stores the residuals of presets again");
}

std::string metadata_of(const fs::path& file, const SafetensorsFile& contents,
                        const std::string& key) {
  const auto found = contents.metadata().find(key);
  if (found == contents.metadata().end()) refuse(file, fmt::format("no '{}'", key));
  return found->second;
}

Residual residual_of(const fs::path& file, const SafeTensor& tensor, int64_t latent) {
  const int64_t width = static_cast<int64_t>(Residual::kTableColumns) + latent;
  if (tensor.dtype != "F32" || tensor.dims.size() != 2 || tensor.dims[1] != width) {
    refuse(file, fmt::format("'{}' must be F32 [stretches, {}]", tensor.name, width));
  }
  std::vector<float> rows(tensor.bytes.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(rows.data(), tensor.bytes.data(), tensor.bytes.size());
  auto residual = Residual::of_table(rows, static_cast<size_t>(latent));
  if (!residual) refuse(file, fmt::format("a value of '{}' is out of range", tensor.name));
  return std::move(*residual);
}

// Empty, or which of the two did not make it.
std::string mismatch(const StoredResidual& stored, const std::string& drafter,
                     const fs::path& reference) {
  if (stored.drafter_sha256 != drafter) return "other weights";
  if (stored.reference_sha256 == sha256_file(reference)) return "";
  return fmt::format("another {}", reference.filename().string());
}

}  // namespace

std::optional<std::string> drafter_sha256(const fs::path& weights) {
  const auto model = models::humming::draft_model(weights);
  return runtime::sums_sha256(models::weights_part(weights, to_name(model)));
}

fs::path residuals_file(const fs::path& weights) {
  return models::weights_part(weights, "references") / kFile;
}

void write_residuals(const fs::path& references, const std::string& drafter,
                     std::span<const PresetResidual> residuals) {
  std::map<std::string, std::string> metadata = {
      {"hum_format", kFormat}, {"version", kVersion}, {kDrafter, drafter}};
  std::vector<std::vector<float>> tables;
  std::vector<SafeTensor> tensors;
  for (const auto& [preset, residual] : residuals) {
    metadata[reference_key(preset)] = sha256_file(references / (preset + ".safetensors"));
    tables.push_back(residual->table());
    const auto width = static_cast<int64_t>(Residual::kTableColumns + residual->latent());
    // The bytes stay where they are when `tables` grows.
    tensors.push_back({.name = preset,
                       .dtype = "F32",
                       .dims = {std::ssize(tables.back()) / width, width},
                       .bytes = std::as_bytes(std::span(tables.back()))});
  }
  write_safetensors(references / kFile, tensors, std::move(metadata));
}

std::optional<StoredResidual> read_residual(const fs::path& file, std::string_view preset,
                                            int64_t latent) {
  const auto contents = SafetensorsFile::read(file);
  if (metadata_of(file, contents, "hum_format") != kFormat) refuse(file, "another format");
  const std::string version = metadata_of(file, contents, "version");
  if (version != kVersion) refuse(file, "unknown version " + version);
  const auto found = std::ranges::find(contents.tensors(), preset, &SafeTensor::name);
  if (found == contents.tensors().end()) return std::nullopt;
  return StoredResidual{residual_of(file, *found, latent), metadata_of(file, contents, kDrafter),
                        metadata_of(file, contents, reference_key(preset))};
}

std::shared_ptr<const Residual> stored_residual(const fs::path& weights, const data::Preset& preset,
                                                int64_t latent) {
  const fs::path file = residuals_file(weights), reference = reference_file(weights, preset);
  const auto drafter = drafter_sha256(weights);
  if (!drafter || !fs::exists(file) || !fs::exists(reference)) return nullptr;
  std::string why;
  try {
    auto stored = read_residual(file, preset.name, latent);
    if (!stored) return nullptr;
    why = mismatch(*stored, *drafter, reference);
    if (why.empty()) return std::make_shared<const Residual>(std::move(stored->residual));
    why = fmt::format("{}: made with {}", file.string(), why);
  } catch (const Error& error) {  // damage costs time, not the sound
    why = error.message();
  }
  warn_once(file.string(), fmt::format("{}; hum drafts the presets' references at each start until "
                                       "`hum data references` stores their residuals again",
                                       why));
  return nullptr;
}

}  // namespace hum::app
