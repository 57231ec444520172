// Keeps the results of an evaluation's clips in a file, so that it resumes where it was stopped:
// one line of JSON with the settings that decide the results, then one for each clip, in order.
#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "eval/harness/evaluation.h"

namespace hum::eval {

class ClipLog {
 public:
  // Reads what an earlier run wrote, up to the first line that is not whole, and cuts the file off
  // there. Drops results of other settings, with a warning that names what differs.
  ClipLog(std::filesystem::path file, Json settings);

  // The earlier run's clips 0, 1, ...
  const std::vector<Json>& earlier() const { return earlier_; }
  // Appends the next clip and flushes it to the disk. Throws: kCannotCreate.
  void add(const Json& clip) const;

 private:
  void read();

  std::filesystem::path file_;
  Json settings_;
  std::vector<Json> earlier_;
};

// The results of a clip for a line: [{"figures", "octave_powers", "embedding"}], one for each
// system. Figures that are not finite become null, and NaN when they are read.
Json clip_json(const ClipResults& results);
ClipResults clip_results(const Json& json);

}  // namespace hum::eval
