// nlohmann::json under one name, and reading / writing JSON files with hum's errors.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace hum {

using Json = nlohmann::ordered_json;

// Throws: kNoInput when missing, kBadData with line and column when it does not parse.
Json read_json(const std::filesystem::path& path);
// Written aside, then renamed.
void write_json(const std::filesystem::path& path, const Json& value);

}  // namespace hum
