// The report of `hum plan extract`: what the features of a library of recordings take.
#pragma once

#include <string>

#include "base/json.h"

namespace hum::app {

struct ExtractionPlanOptions {
  double hours = 0;      // of sound
  double input_tb = 0;   // of recordings, 1e12 bytes, in place of hours
  double kbps = 1411.2;  // of recordings: CD
  std::string cluster;   // machine:count, or with `days` a machine
  double days = 0;       // until when; 0: the cluster has a count
  double rate = 0;       // seconds of sound per core and second; 0: as measured
  bool keep_audio = false;
  std::string machines;  // file with figures; empty: hum's own
};

// {"sound_hours", "input_bytes", "output_bytes", "rate": {"sound_s_per_core_s", "source", "date"},
// "machine", "machines", "cores", "processes_per_machine", "threads_per_process",
// "memory_gb_per_machine", "core_hours", "days", "bound_by", "machine_in_bytes_per_s",
// "machine_out_bytes_per_s", "dollars": {"on_demand", "reserved", "spot"}}; no price: null.
// Throws: kUsage for options that are missing, out of range or contradict each other, and for
// processes that do not fit into the memory; what read_extraction_figures throws.
Json extraction_plan(const ExtractionPlanOptions& options);
std::string extraction_plan_text(const Json& report);

}  // namespace hum::app
