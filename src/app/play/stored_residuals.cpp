#include "app/play/stored_residuals.h"

#include <map>
#include <utility>
#include <vector>

#include "app/play/references.h"
#include "app/play/stored_tables.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "models/humming/draft_model.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::Residual;

constexpr TableKind kResiduals = {.name = "residuals", .rows = "stretches"};
constexpr const char* kDrafter = "drafter_sha256";

std::string reference_key(std::string_view preset) {
  return fmt::format("{}.reference_sha256", preset);
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
  return tables_file(models::weights_part(weights, "references"), kResiduals);
}

void write_residuals(const fs::path& references, const std::string& drafter,
                     std::span<const PresetResidual> residuals) {
  std::map<std::string, std::string> metadata = {{kDrafter, drafter}};
  std::vector<PresetTable> tables;
  for (const auto& [preset, residual] : residuals) {
    metadata[reference_key(preset)] = sha256_file(references / (preset + ".safetensors"));
    tables.push_back({preset, static_cast<int64_t>(Residual::kTableColumns + residual->latent()),
                      residual->table()});
  }
  write_tables(references, kResiduals, tables, std::move(metadata));
}

std::optional<StoredResidual> read_residual(const fs::path& file, std::string_view preset,
                                            int64_t latent) {
  const StoredTables tables(file, kResiduals);
  const auto rows = tables.find(preset, static_cast<int64_t>(Residual::kTableColumns) + latent);
  if (!rows) return std::nullopt;
  auto residual = Residual::of_table(*rows, static_cast<size_t>(latent));
  if (!residual) tables.refuse_values(preset);
  return StoredResidual{std::move(*residual), tables.metadata(kDrafter),
                        tables.metadata(reference_key(preset))};
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
