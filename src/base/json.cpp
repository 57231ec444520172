#include "base/json.h"

#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/files.h"

namespace hum {

Json parse_json(std::string_view text) { return Json::parse(text); }

Json try_parse_json(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string to_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json& value, int indent) { std::cout << to_text(value, indent) << std::endl; }

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  try {
    return parse_json(text);
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    fail(ExitCode::kBadData,
         fmt::format("{}: not valid JSON: {}", path.string(), what.substr(what.find(" ") + 1)),
         "correct the file at that line and column");
  }
}

void write_json(const std::filesystem::path& path, const Json& value) {
  write_file(path, to_text(value, 2) + "\n");
}

}  // namespace hum
