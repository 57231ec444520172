#include "models/weights_folder.h"

#include "base/error.h"
#include "base/files.h"

namespace hum::models {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxDepth = 8;
constexpr const char* kBuildsOn = "builds_on";

std::string first_line(const fs::path& file) {
  const std::string text = read_file(file);
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

fs::path weights_part(const fs::path& weights, std::string_view part) {
  fs::path folder = weights;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    if (fs::exists(folder / part)) return folder / part;
    if (!fs::exists(folder / kBuildsOn)) return weights / part;
    folder = folder / first_line(folder / kBuildsOn);
  }
  fail(ExitCode::kBadData, fmt::format("{}: its builds_on forms a cycle", weights.string()),
       "builds_on must hold the path of a folder with all parts, e.g. ../..");
}

}  // namespace hum::models
