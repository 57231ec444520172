// Reads training runs from files: what was trained and how, and the time of a step.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/counted_work.h"
#include "plan/hardware.h"
#include "plan/layout.h"

namespace hum::plan {

struct Run {
  std::string name;  // "runs.csv:7"
  Transformer model;
  Layout layout;
  std::optional<CountedWork> work;  // takes the place of `model`; then the layout is one device
  double measured_s = 0;            // 0: not measured
};

// The runs of one file: one campaign, one hardware.
struct Campaign {
  std::string name;  // the file's
  std::string device;
  std::vector<Run> runs;
  std::vector<std::string> assumptions;  // what the file does not state, and the values assumed
};

// Reads a CSV with the columns of the published tables (docs/formats/runs.md). `device` names the
// hardware; empty: the file's column `hardware`, else `otherwise`, else the file's name, else its
// columns determine it. A row with full_recompute_s and sequence_parallel_selective_s is two runs.
// Throws: kNoInput; kBadData with the line: figures not above zero, inconsistent meshes, missing
// columns, runs faster than the hardware's peak, hardware that is unknown or not `device`; kUsage
// if `device` is unknown. A .jsonl file is read as a log (logs.h).
Campaign read_campaign(const std::filesystem::path& path, const Hardware& hardware,
                       const std::string& device = "", const std::string& otherwise = "");

}  // namespace hum::plan
