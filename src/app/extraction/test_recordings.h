// Test helpers: generated recordings, and the files that became of them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/scratch_folder.h"
#include "data/shards/testing.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/timing.h"
#include "decode/testing_entry.h"
#include "models/testing.h"

namespace hum::app {

// A scale from `pitch` up, two notes a second, with harmonics.
inline std::vector<float> scale(int pitch, double seconds) {
  std::vector<audio::Note> notes;
  for (int i = 0; 0.5 * i + 0.45 < seconds; ++i) {
    notes.push_back({0.5 * i, 0.5 * i + 0.45, pitch + 2 * (i % 6)});
  }
  return data::render_excitation(notes, static_cast<int64_t>(seconds * data::kSampleRate));
}

using data::files_of;

// In folder_: weights of tiny models, the folder music/, and compiled programs.
class ExtractionTest : public ::testing::Test {
 protected:
  explicit ExtractionTest(std::initializer_list<const char*> parts = {"codec"}) {
    ::setenv("HUM_CACHE", (folder_ / "cache").c_str(), /*overwrite=*/1);
    for (const char* part : parts) models::write_tiny_weights(folder_.path(), part);
    std::filesystem::create_directories(folder_.path() / "music");
  }
  ~ExtractionTest() override { ::unsetenv("HUM_CACHE"); }

  ScratchFolder folder_;
};

}  // namespace hum::app
