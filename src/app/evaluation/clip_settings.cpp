#include "app/evaluation/clip_settings.h"

#include <set>
#include <string>

#include "base/hash.h"
#include "base/json.h"
#include "base/machine.h"
#include "models/registry.h"
#include "models/weights_folder.h"
#include "pjrt/client.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// Of the names and contents of a folder's files.
std::string files_sha256(const fs::path& folder) {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path());
  }
  std::string sums;
  for (const fs::path& file : files) {
    sums += fmt::format("{}  {}\n", sha256_file(file), file.filename().string());
  }
  return sha256(sums);
}

std::vector<std::string_view> part_names() {
  std::vector<std::string_view> names = {"references", "judge"};
  for (const models::ModelRow& row : models::registry()) {
    if (row.weights) names.push_back(*row.weights);
  }
  return names;
}

Json sizes_of(std::span<const fs::path> files) {
  Json sizes = Json::object();
  for (const fs::path& file : files) {
    if (!file.empty()) sizes[fs::weakly_canonical(file).string()] = fs::file_size(file);
  }
  return sizes;
}

}  // namespace

Json weights_hashes(std::span<const fs::path> weights) {
  Json hashes = Json::object();
  for (const fs::path& folder : weights) {
    for (const std::string_view name : part_names()) {
      const fs::path part = fs::weakly_canonical(models::weights_part(folder, name));
      if (!fs::exists(part) || hashes.contains(part.string())) continue;
      hashes[part.string()] = files_sha256(part);
    }
  }
  return hashes;
}

Json clip_settings(const runtime::Session& session, const eval::TestSetOptions& test_set,
                   std::span<const eval::System> rows, std::span<const fs::path> weights,
                   std::span<const fs::path> sound_fonts) {
  Json names = Json::array();
  for (const eval::System& row : rows) names.push_back(row.name);
  return {{"program", sha256_file("/proc/self/exe")},
          {"machine", {processor_name(), session.platform(), session.client()->platform_version()}},
          {"weights", weights_hashes(weights)},
          {"sound fonts", sizes_of(sound_fonts)},
          {"test set",
           {{"seed", test_set.seed},
            {"clips", test_set.clips},
            {"seconds", test_set.seconds},
            {"reference_s", test_set.reference_s}}},
          {"rows", std::move(names)}};
}

}  // namespace hum::app
