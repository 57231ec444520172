#include "app/play/stored_decays.h"

#include <utility>
#include <vector>

#include "app/play/stored_tables.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::LateDecay;

constexpr TableKind kDecays = {.name = "decays", .rows = "notes"};

}  // namespace

void write_decays(const fs::path& references, std::span<const PresetDecay> decays) {
  std::vector<PresetTable> tables;
  for (const auto& [preset, decay] : decays) {
    if (!decay.is_steady()) tables.push_back({preset, LateDecay::kTableColumns, decay.table()});
  }
  write_tables(references, kDecays, tables);
}

std::shared_ptr<const LateDecay> stored_decay(const fs::path& weights, const data::Preset& preset) {
  const fs::path file = tables_file(models::weights_part(weights, "references"), kDecays);
  if (!fs::exists(file)) return nullptr;
  const StoredTables tables(file, kDecays);
  const auto rows = tables.find(preset.name, LateDecay::kTableColumns);
  if (!rows) return nullptr;
  auto decay = LateDecay::of_table(*rows);
  if (!decay) tables.refuse_values(preset.name);
  return std::make_shared<const LateDecay>(std::move(*decay));
}

}  // namespace hum::app
