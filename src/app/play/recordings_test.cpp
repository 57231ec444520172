#include "app/play/recordings.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/scratch_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> paths_of(const fs::path& input) {
  std::vector<fs::path> paths;
  for (const FoundRecording& found : find_recordings({input.string()}, true)) {
    paths.push_back(found.path);
  }
  return paths;
}

TEST(FindRecordings, OfAFolderAreTheSoundsBelowItByPath) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path();
  fs::create_directories(folder / "b");
  fs::create_directories(folder / "c.wav");
  for (const char* name : {"b/one.FLAC", "z.ogg", "a.wav", "notes.mid", "README"}) {
    std::ofstream(folder / name) << "x";
  }
  EXPECT_THAT(paths_of(folder),
              testing::ElementsAre(folder / "a.wav", folder / "b/one.FLAC", folder / "z.ogg"));
  EXPECT_THAT(paths_of(folder / "none.wav"), testing::ElementsAre(folder / "none.wav"));
  for (const char* name : {"b/one.FLAC", "z.ogg", "a.wav"}) fs::remove(folder / name);
  EXPECT_THROW(paths_of(folder), Error);
}

}  // namespace
}  // namespace hum::app
