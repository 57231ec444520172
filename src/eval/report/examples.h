// Keeps example sounds for a report, each with its picture.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "eval/harness/test_set.h"
#include "eval/report/folder.h"

namespace hum::eval {

class Examples {
 public:
  // Keeps the first clips of each split. The folder must outlive this object.
  Examples(const ReportFolder& folder, std::span<const TestClipPlan> plans);

  // Adds a system's sound of clip number `i`, if that clip is an example.
  void keep(size_t i, const TestClip& clip, const std::string& system,
            std::span<const float> samples);
  // Adds a sound under a heading; `file` is its file name. Shapes: mono at 22,050 Hz.
  void add(const std::string& heading, const std::string& file, const std::string& system,
           std::span<const float> samples, std::span<const audio::Note> notes);

  // [{"title", "sounds": [{"system", "sound", "picture"}]}], files relative to the folder.
  const Json& json() const { return examples_; }

 private:
  const ReportFolder& folder_;
  std::set<size_t> clips_;
  Json examples_ = Json::array();
};

}  // namespace hum::eval
