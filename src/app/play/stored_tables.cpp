#include "app/play/stored_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace hum::app {
namespace {

constexpr const char* kFormatKey = "hum_format";
constexpr const char* kVersionKey = "version";
constexpr const char* kVersion = "1";

std::string format_of(const TableKind& kind) { return fmt::format("hum-{}", kind.name); }

}  // namespace

std::filesystem::path tables_file(const std::filesystem::path& references, const TableKind& kind) {
  return references / fmt::format("{}.safetensors", kind.name);
}

void write_tables(const std::filesystem::path& references, const TableKind& kind,
                  std::span<const PresetTable> tables,
                  std::map<std::string, std::string> metadata) {
  metadata[kFormatKey] = format_of(kind);
  metadata[kVersionKey] = kVersion;
  std::vector<SafeTensor> tensors;
  for (const auto& [preset, columns, values] : tables) {
    tensors.push_back({.name = preset,
                       .dtype = "F32",
                       .dims = {std::ssize(values) / columns, columns},
                       .bytes = std::as_bytes(std::span(values))});
  }
  write_safetensors(tables_file(references, kind), tensors, std::move(metadata));
}

StoredTables::StoredTables(std::filesystem::path file, const TableKind& kind)
    : file_(std::move(file)), kind_(kind), contents_(SafetensorsFile::read(file_)) {
  if (metadata(kFormatKey) != format_of(kind)) refuse("another format");
  const std::string version = metadata(kVersionKey);
  if (version != kVersion) refuse("unknown version " + version);
}

std::string StoredTables::metadata(const std::string& key) const {
  const auto found = contents_.metadata().find(key);
  if (found == contents_.metadata().end()) refuse(fmt::format("no '{}'", key));
  return found->second;
}

std::optional<std::vector<float>> StoredTables::find(std::string_view preset,
                                                     int64_t columns) const {
  const auto tensor = std::ranges::find(contents_.tensors(), preset, &SafeTensor::name);
  if (tensor == contents_.tensors().end()) return std::nullopt;
  if (tensor->dtype != "F32" || tensor->dims.size() != 2 || tensor->dims[1] != columns) {
    refuse(fmt::format("'{}' must be F32 [{}, {}]", preset, kind_.rows, columns));
  }
  std::vector<float> values(tensor->bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return values;
}

void StoredTables::refuse(std::string_view why) const {
  fail(ExitCode::kBadData, fmt::format("{}: not a file of {}: {}", file_.string(), kind_.name, why),
       fmt::format("hum data references stores the {} of presets again", kind_.name));
}

void StoredTables::refuse_values(std::string_view preset) const {
  refuse(fmt::format("a value of '{}' is out of range", preset));
}

}  // namespace hum::app
