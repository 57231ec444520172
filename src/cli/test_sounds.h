// Where the sounds of a test set come from: the presets, the sound font of training, another one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "eval/harness/test_set.h"

namespace hum::cli {

class TestSounds {
 public:
  // `other_font`: its file; empty: one of Debian's, if one is installed that is not training's.
  // Throws: kNoInput without training's sound font, and for a named one that is missing.
  explicit TestSounds(const std::string& other_font);
  TestSounds(const TestSounds&) = delete;
  TestSounds& operator=(const TestSounds&) = delete;

  // Refers to this object.
  const eval::TestSources& sources() const { return sources_; }
  // Empty when there is none.
  const std::filesystem::path& other_font() const { return other_font_; }

 private:
  std::filesystem::path other_font_;
  std::vector<const data::Preset*> seen_, unseen_;
  eval::TestSources sources_;
};

}  // namespace hum::cli
