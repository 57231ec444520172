// What it takes to extract the features of a library of recordings (hum data extract): machines,
// days, money and bytes, from a measured rate. The recordings are independent of each other, so the
// work is shared out over all cores; there is no model of the processor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "plan/hardware.h"

namespace hum::plan {

// What one process was measured to do.
struct ExtractionRate {
  Figure sound_s_per_core_s;  // seconds of sound that a core extracts in a second
  Figure bytes_per_sound_s;   // of shards, for a second of stereo sound, without --keep-audio
  Figure threads_per_process;
  Figure memory_gb_per_process;  // 1e9 bytes
  template <class V>
  void visit_fields(V& v) {
    v("sound_s_per_core_s", sound_s_per_core_s, "seconds of sound per second of one core");
    v("bytes_per_sound_s", bytes_per_sound_s, "bytes of shards per second of sound");
    v("threads_per_process", threads_per_process, "HUM_THREADS of the process");
    v("memory_gb_per_process", memory_gb_per_process, "its peak memory, 1e9 bytes");
  }
};

// A machine that can be rented.
struct ExtractionNode {
  std::string name;
  Figure cores;                   // as its system counts them
  Figure memory_gb;               // 1e9 bytes
  Figure network_gb_per_s;        // 1e9 bytes, each way
  Figure price_per_node_hour;     // US dollars on demand
  Figure reserved_per_node_hour;  // with a commitment of years; 0: not given
  Figure spot_per_node_hour;      // if the seller may reclaim it; 0: not given
  template <class V>
  void visit_fields(V& v) {
    v("cores", cores, "cores as its system counts them");
    v("memory_gb", memory_gb, "memory, 1e9 bytes");
    v("network_gb_per_s", network_gb_per_s, "network GB/s, each way");
    v("price_per_node_hour", price_per_node_hour, "US dollars on demand");
    v("reserved_per_node_hour", reserved_per_node_hour, "US dollars, with a commitment of years");
    v("spot_per_node_hour", spot_per_node_hour, "US dollars, if the seller may reclaim it");
  }
};

struct ExtractionFigures {
  ExtractionRate rate;
  std::map<std::string, ExtractionNode> nodes;
  // Throws: kUsage with the nearest names.
  const ExtractionNode& at(const std::string& name) const;
};
std::filesystem::path extraction_figures_path();
// Throws: kNoInput; kConfig on unknown fields, or figures without a source or not above zero.
ExtractionFigures read_extraction_figures(const std::filesystem::path& path);

struct ExtractionWork {
  double sound_hours = 0;
  double input_bytes_per_sound_s = 0;
  double output_bytes_per_sound_s = 0;
  double sound_s_per_core_s = 0;
};

struct ExtractionPlan {
  double core_hours = 0;
  double input_bytes = 0, output_bytes = 0;
  int64_t nodes = 0;
  double days = 0;
  bool is_bound_by_network = false;  // else by the processor
  double node_in_bytes_per_s = 0, node_out_bytes_per_s = 0;
  double on_demand = 0, reserved = 0, spot = 0;  // US dollars; 0: no price
};

// On this many nodes.
ExtractionPlan plan_extraction(const ExtractionWork& work, const ExtractionNode& node,
                               int64_t nodes);
// On as few nodes as finish in `days`.
ExtractionPlan plan_extraction_in(const ExtractionWork& work, const ExtractionNode& node,
                                  double days);

}  // namespace hum::plan
