#include "bench/real_instruments.h"

#include <algorithm>

#include "audio/io.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "bench/hear/recordings.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

fs::path list_file(const fs::path& folder) {
  const fs::path own = folder / "instruments.json";
  return fs::exists(own) ? own : source_folder() / "bench/real_instruments.json";
}

}  // namespace

fs::path instruments_folder(const Scale& scale) {
  return scale.references.empty() ? hear::voices_folder().parent_path() / "instruments"
                                  : fs::path(scale.references);
}

std::string instruments_missing(const Scale& scale) {
  return fs::is_directory(instruments_folder(scale)) && !fs::is_empty(instruments_folder(scale))
             ? ""
             : "the recordings of real instruments are not here";
}

std::vector<InstrumentClip> instrument_clips(const Scale& scale) {
  const fs::path folder = instruments_folder(scale), list = list_file(folder);
  auto unlisted = hear::sounds_below(folder);
  std::vector<InstrumentClip> clips;
  const Json json = read_json(list);
  for (const Json& instrument : json.at("instruments")) {
    for (const std::string name : instrument.at("clips")) {
      const fs::path path = folder / name;
      if (std::erase(unlisted, path) == 0) continue;
      clips.push_back(
          {name, path, instrument.at("name"), instrument.at("preset"), instrument.at("dies_away")});
    }
  }
  if (!unlisted.empty()) {
    fail(ExitCode::kBadData,
         fmt::format("{} does not list {}", list.string(), unlisted[0].string()),
         "add it to its instrument in that file, or list the folder's clips in an "
         "instruments.json of the same form in the folder");
  }
  return clips;
}

}  // namespace hum::bench
