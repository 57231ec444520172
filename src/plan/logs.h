// Reads the logs that `hum train` writes: training runs, and what a training took.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "plan/runs.h"

namespace hum::plan {

// One run per file, all on one hardware: the work that its newest part executes
// (docs/formats/training-log.md), and the median of its step times after that part's first line.
// `device` names the hardware; empty: the one whose name occurs in the log's. Throws: kNoInput;
// kBadData with file and line: invalid JSON, no run record, too few steps, several devices,
// other hardware than the first log's or unknown hardware, faster than the peak.
Campaign read_logs(std::span<const std::filesystem::path> paths, const Hardware& hardware,
                   const std::string& device = "");

// What a training took, by its log: the sum over its processes, each of which counts from 0.
struct LoggedTraining {
  int64_t steps = 0;  // to the last line; those of stages that begin from weights add up
  int64_t processes = 0;
  double seconds = 0;      // without what a process does before its first step
  double processor_s = 0;  // with it
  // The part of processor_s before the first steps (compiling, tokens, drafts), estimated from the
  // first line of each process; 0 if the log has no two lines of a process.
  double start_processor_s = 0;
  // Of a step: the mean between the first and the last line of each process, with the wait for
  // batches, validations and checkpoints. NaN if the log has no two lines of a process.
  double step_s = std::numeric_limits<double>::quiet_NaN(), step_processor_s = step_s;
  std::string hardware;   // of the last process
  bool is_on_cpu = true;  // all processes
  std::string sha256;     // of the weights that it wrote last; empty: none
};

// Lines may be missing: the released logs keep every hundredth step. A process counts to its last
// line, and begins where `seconds` falls if its run record is missing. Throws: kNoInput; kBadData
// with file and line: invalid JSON, no run record, a step without its times.
LoggedTraining read_training(const std::filesystem::path& path);

bool is_log(const std::filesystem::path& path);
// "runs/codec/log.jsonl" -> "codec/log.jsonl", since every run's log has the same file name.
std::string short_name(const std::filesystem::path& path);

}  // namespace hum::plan
