// The result of fitting a hardware's runs: the six efficiencies, how well they predict, and the
// range of plans that the runs cover. One JSON file each, hardware/calibration/<device>.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "plan/fit.h"
#include "plan/score.h"

namespace hum::plan {

// The range of a property over the calibration's runs.
struct Range {
  double lowest = 0, highest = 0;
};

struct FileFit {
  std::string name, sha256;  // of runs, or of a run's log
  Score in_sample, leave_one_model_out;
};

struct Calibration {
  std::string device, stack;
  Efficiency efficiency;
  int64_t models = 0;  // different (hidden, layers)
  std::vector<FileFit> files;
  double interval_log = 0;  // half width of the interval, in logarithms: the widest of any file
  std::map<std::string, Range> covered;  // "tp", "hidden", ...; "recompute" as 0, 1, 2
  // Efficiencies that the runs do not determine: taken from the hardware's prior, or from the fit
  // of the hardware that it borrows from.
  std::vector<std::string> borrowed;
  std::string lender;              // the source of these
  bool interval_assumed = false;   // too few runs for a conformal interval
  std::vector<std::string> notes;  // about how runs were read
};

// The probability with which an interval should contain the measured time.
inline constexpr double kIntervalProbability = 0.8;

// Used if fewer than four runs give no conformal interval: a factor of two, or the largest error.
inline constexpr double kAssumedIntervalLog = 0.69;

// Reads and fits all files, which must be of one device. Logs count as one campaign. `device`: as
// for read_campaign.
Calibration calibrate(const std::vector<std::filesystem::path>& files, const Hardware& hardware,
                      const std::string& device = "");

// The calibration in the hardware's own folder. Throws kNoInput, kBadData.
std::filesystem::path calibration_path(const std::string& device);
Calibration read_calibration(const std::filesystem::path& path);
Json to_json(const Calibration& calibration);
void write_calibration(const std::filesystem::path& path, const Calibration& calibration);

struct Prediction {
  Layout layout;  // with the chosen micro_batch and interleave, if they were not set
  StepTime time;
  double low_s = 0, high_s = 0;  // the interval; twice as wide outside the covered range
  // "tp 64 (calibrated on 1 to 16)", memory, borrowed efficiencies that matter.
  std::vector<std::string> outside;
};

Prediction predict(const Run& run, const Device& device, const Calibration& calibration);

}  // namespace hum::plan
