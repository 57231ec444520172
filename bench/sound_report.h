// The report of `hum evaluate model` that the bars sound-codec, -seen, -unseen, -font,
// -valle and -augmentation read: made once for a set of weights, in the build folder. 200 clips
// each of seen and unseen presets, 100 of the sound font that generation 4 is not trained on;
// timbre references of 3 s.
#pragma once

#include <string>

#include "base/json.h"
#include "bench/scale.h"

namespace hum::bench {

class SoundReport {
 public:
  // Makes the report (some hours; a minute in the smoke form, whose one clip is used for every
  // group) unless the existing one was made by this program for these weights. After an interrupt
  // the same program resumes it (app/evaluation/model_report.h).
  explicit SoundReport(const Scale& scale);

  const Json& json() const { return report_; }
  // A row's figure over a group of clips: {"value", "low", "high", "clips"}, null if there is no
  // value. Throws: kFailure if there is no such row.
  const Json& figure(const std::string& row, const std::string& metric,
                     const std::string& group = "all") const;
  // Its mean; NaN for null.
  double value(const std::string& row, const std::string& metric,
               const std::string& group = "all") const;
  // The row's mean divided by the other's.
  double ratio(const std::string& row, const std::string& other, const std::string& metric,
               const std::string& group = "all") const;
  // The paired difference of a row to the one that it is compared with, like figure().
  const Json& difference(const std::string& row, const std::string& metric,
                         const std::string& group = "all") const;
  // Whether it has clips of the group.
  bool has(const std::string& group) const;
  const Json& row(const std::string& name) const;
  // Why the report has no such rows, as with a baseline that is missing; empty if it has them.
  std::string why_not(const std::string& row) const;

 private:
  bool has_groups_;
  Json report_;
};

}  // namespace hum::bench
