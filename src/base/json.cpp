#include "base/json.h"

#include "base/error.h"
#include "base/files.h"

namespace hum {

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail(ExitCode::kBadData, fmt::format("{}: not valid JSON: {}", path.string(), error.what()));
  }
}

void write_json(const std::filesystem::path& path, const Json& value) {
  write_file(path, value.dump(2) + "\n");
}

}  // namespace hum
