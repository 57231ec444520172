// Sources of a test set's sounds: the presets that the weights know and those that they do not, the
// sound font of training and another one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "eval/harness/test_set.h"

namespace hum::app {

class TestSounds {
 public:
  // `other_font`: the file of another sound font; empty: one that is held out of training, else any
  // other that is installed. Throws: kNoInput without a sound font, or if the named one is missing.
  TestSounds(const std::filesystem::path& weights, const std::string& other_font);
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

}  // namespace hum::app
