#include "bench/hear/recordings.h"

#include <algorithm>
#include <utility>

#include "app/play/recordings.h"
#include "base/folders.h"
#include "bench/judges.h"
#include "decode/read.h"

namespace hum::bench::hear {

namespace fs = std::filesystem;

fs::path voices_folder() { return source_folder().parent_path() / "shared/data/voices"; }

std::string recordings_missing() {
  return fs::is_directory(voices_folder()) && !fs::is_empty(voices_folder())
             ? ""
             : "the recordings of real voices are not here";
}

Sound read_sound(const fs::path& path) { return decode::read_recording(path).samples; }

std::vector<fs::path> sounds_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (auto& found : app::find_recordings({folder.string()}, true)) {
    paths.push_back(std::move(found.path));
  }
  return paths;
}

std::vector<fs::path> all_recordings() {
  auto paths = sounds_below(voices_folder());
  paths.push_back(example_recording());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace hum::bench::hear
