// The report of `hum evaluate model` that the bars sound-codec, -seen, -unseen, -real, -valle and
// -augmentation read: made once for a set of weights, in the build folder.
#pragma once

#include <string>

#include "base/json.h"
#include "bench/scale.h"

namespace hum::bench {

class SoundReport {
 public:
  // Makes the report (an hour or two; in the smoke form a minute: its one clip stands for every
  // group) unless the one that is there judged these weights by this very program.
  explicit SoundReport(const Scale& scale);

  const Json& json() const { return report_; }
  // A figure of a row over a group of clips: {"value", "low", "high", "clips"}, null when nothing
  // could be said. Throws: kFailure without such a row.
  const Json& figure(const std::string& row, const std::string& metric,
                     const std::string& group = "all") const;
  // Its mean; not a number for null.
  double value(const std::string& row, const std::string& metric,
               const std::string& group = "all") const;
  // The row's mean over the other's.
  double ratio(const std::string& row, const std::string& other, const std::string& metric,
               const std::string& group = "all") const;
  const Json& row(const std::string& name) const;

 private:
  bool has_groups_;
  Json report_;
};

}  // namespace hum::bench
