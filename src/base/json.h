// nlohmann::json under one name, and reading / writing JSON files with hum's errors.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_fwd.h"

namespace hum {

// As Json::dump, but bytes that are not UTF-8, as file names may have, become U+FFFD; dump throws.
std::string to_text(const Json& value, int indent = -1);
// to_text and a line's end, on stdout.
void print_json(const Json& value, int indent = -1);

// Throws: kNoInput when missing, kBadData with line and column when it does not parse.
Json read_json(const std::filesystem::path& path);
// Written aside, then renamed.
void write_json(const std::filesystem::path& path, const Json& value);

}  // namespace hum
