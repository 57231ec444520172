// nlohmann::json under one name, and JSON file I/O with hum's errors.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_fwd.h"

namespace hum {

// Use these instead of Json::parse and Json::dump: they are compiled once, while each source that
// calls those compiles a parser (1.3 s) or a writer (0.4 s). Throws Json::parse_error.
Json parse_json(std::string_view text);
// Returns a value that is_discarded() if the text does not parse.
Json try_parse_json(std::string_view text);
// Same as Json::dump, but replaces bytes that are not UTF-8 (file names may have them) by U+FFFD
// instead of throwing.
std::string to_text(const Json& value, int indent = -1);
// Prints to_text and a newline to stdout.
void print_json(const Json& value, int indent = -1);

// A number, or null where JSON has none: for infinity and NaN.
Json finite_or_null(double value);

// Throws: kNoInput if the file is missing, kBadData if it is not UTF-8 or, with line and column, if
// it does not parse.
Json read_json(const std::filesystem::path& path);
// Writes a temporary file, then renames it.
void write_json(const std::filesystem::path& path, const Json& value);

}  // namespace hum
