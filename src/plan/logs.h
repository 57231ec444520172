// Reads training runs from the logs that `hum train` writes.
#pragma once

#include <filesystem>
#include <span>

#include "plan/runs.h"

namespace hum::plan {

// One run per file, all on one hardware: the work that its newest part executes
// (docs/formats/training-log.md), and the median of its step times after that part's first line.
// `device` names the hardware; empty: the one whose name occurs in the log's. Throws: kNoInput;
// kBadData with file and line: invalid JSON, no run record, too few steps, several devices,
// other hardware than the first log's or unknown hardware, faster than the peak.
Campaign read_logs(std::span<const std::filesystem::path> paths, const Hardware& hardware,
                   const std::string& device = "");

bool is_log(const std::filesystem::path& path);
// "runs/codec/log.jsonl" -> "codec/log.jsonl", since every run's log has the same file name.
std::string short_name(const std::filesystem::path& path);

}  // namespace hum::plan
