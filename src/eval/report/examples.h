// Keeps example sounds for a report, each with its picture.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/json.h"
#include "eval/harness/test_set.h"
#include "eval/report/folder.h"

namespace hum::eval {

// Clips that a report keeps: they alternate between splits (plan_test_set), and a listening test of
// them takes about ten minutes.
inline constexpr size_t kExampleClips = 8;

class Examples {
 public:
  // The folder must outlive this object.
  explicit Examples(const ReportFolder& folder) : folder_(folder) {}

  // Adds a system's sound of clip number `i`, if that clip is among the first kExampleClips; the
  // true rendering brings the anchors of the listening test.
  void keep(size_t i, const TestClip& clip, const std::string& system,
            std::span<const float> samples);
  // Adds a sound under a heading; `file` is its file name. Shapes: mono at 22,050 Hz.
  void add(const std::string& heading, const std::string& file, const std::string& system,
           std::span<const float> samples, std::span<const audio::Note> notes);

  // Adds an example of an earlier run, whose files the folder holds.
  void restore(Json example) { examples_.push_back(std::move(example)); }

  // [{"title", "level_lufs", "sounds": [{"system", "sound", "picture", "lufs"}]}], files relative
  // to the folder. "lufs" is a sound's loudness in its file, null for silence; "level_lufs" is the
  // loudness to which players bring all sounds of the example: -23 LUFS, or less if the true peak
  // of one would exceed -1 dBTP.
  const Json& json() const { return examples_; }

 private:
  const ReportFolder& folder_;
  Json examples_ = Json::array();
};

}  // namespace hum::eval
