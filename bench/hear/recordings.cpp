#include "bench/hear/recordings.h"

#include <algorithm>

#include "base/folders.h"
#include "bench/judges.h"
#include "pipeline/recording.h"

namespace hum::bench::hear {

namespace fs = std::filesystem;

fs::path voices_folder() { return source_folder().parent_path() / "shared/data/voices"; }

std::string recordings_missing() {
  return fs::is_directory(voices_folder()) && !fs::is_empty(voices_folder())
             ? ""
             : "the recordings of real voices are not here";
}

Sound read_sound(const fs::path& path) { return pipeline::read_recording(path).samples; }

std::vector<fs::path> all_recordings() {
  auto paths = pipeline::recordings_of(voices_folder());
  paths.push_back(example_recording());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace hum::bench::hear
