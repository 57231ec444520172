// Tables of floats, one per preset, stored with the presets' references beside the weights. Source:
// docs/formats/decays.md and docs/formats/residuals.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/safetensors.h"

namespace hum::app {

struct TableKind {
  std::string_view name;  // of the file, and in its metadata: "decays"
  std::string_view rows;  // what a row is, for messages: "notes"
};

struct PresetTable {
  std::string preset;
  int64_t columns = 1;
  std::vector<float> values;  // [rows, columns]
};

std::filesystem::path tables_file(const std::filesystem::path& references, const TableKind& kind);

// Throws: kCannotCreate.
void write_tables(const std::filesystem::path& references, const TableKind& kind,
                  std::span<const PresetTable> tables,
                  std::map<std::string, std::string> metadata = {});

class StoredTables {
 public:
  // Throws: kNoInput; kBadData if the file is damaged, of another kind or of another version.
  StoredTables(std::filesystem::path file, const TableKind& kind);

  // Throws: kBadData if there is none.
  std::string metadata(const std::string& key) const;
  // Absent if the file has none of this preset. Throws: kBadData if it has other columns.
  std::optional<std::vector<float>> find(std::string_view preset, int64_t columns) const;
  // Throws kBadData with this reason.
  [[noreturn]] void refuse(std::string_view why) const;
  [[noreturn]] void refuse_values(std::string_view preset) const;

 private:
  std::filesystem::path file_;
  TableKind kind_;
  SafetensorsFile contents_;
};

}  // namespace hum::app
