#include "models/weights_folder.h"

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/names.h"

namespace hum::models {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxDepth = 8;
constexpr const char* kBuildsOn = "builds_on";

std::string first_line(const fs::path& file) {
  const std::string text = read_file(file);
  return text.substr(0, text.find_first_of("\r\n"));
}

// The folder beside `path` whose name it may be meant to have.
std::optional<std::string> likely_folder(const fs::path& path) {
  const fs::path wanted = path.has_filename() ? path : path.parent_path();  // weights/
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(real_path(wanted).parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    if (is_folder(at->path())) names.push_back(at->path().filename().string());
  }
  const auto likely = likely_name(wanted.filename().string(), names);
  if (!likely) return std::nullopt;
  return (wanted.parent_path() / *likely).string();
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

void require_weights_folder(const fs::path& weights) {
  if (is_folder(weights)) return;
  const auto likely = likely_folder(weights);
  require_folder(
      weights,
      fmt::format(
          "{}a folder of weights holds a folder of each model: codec, coarse, ear, predictor, "
          "upsampler, voice; the released ones are in {}",
          likely ? fmt::format("did you mean {}? ", *likely) : "",
          (data_folder() / "weights").string()));
}

}  // namespace hum::models
