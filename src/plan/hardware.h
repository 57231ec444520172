// Accelerators and clusters: figures stated by vendors and sellers, each with its source and date.
// The file is hardware/devices.yaml; users add their own with --hardware-file.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/fields.h"
#include "plan/efficiency.h"

namespace hum::plan {

// A published figure.
struct Figure {
  double value = 0;
  std::string source, date;
  template <class V>
  void visit_fields(V& v) {
    v("value", value, "the figure, in the unit of its name");
    v("source", source, "where it is published");
    v("date", date, "when it was published: YYYY or YYYY-MM");
  }
};

// The settings of training software on this hardware, unless a run states otherwise.
struct Stack {
  std::string name;
  bool flash_attention = false, sequence_parallel = false, distributed_optimizer = false,
       overlap_gradients = false, tied_embeddings = true;
  // none, selective, full, or auto: none if every run of a campaign fits without it, else full.
  std::string recompute = "auto";
  std::string recompute_gated;  // for models with a gated MLP, if it differs
  template <class V>
  void visit_fields(V& v) {
    v("name", name, "the software");
    v("flash_attention", flash_attention, "attention scores are not stored in memory");
    v("sequence_parallel", sequence_parallel, "norms and residuals split over tp");
    v("distributed_optimizer", distributed_optimizer, "optimizer state split over dp");
    v("overlap_gradients", overlap_gradients, "gradient reduction overlaps the backward pass");
    v("tied_embeddings", tied_embeddings, "the head is the transposed embedding");
    v("recompute", recompute, "none, selective, full or auto");
    v("recompute_gated", recompute_gated, "recompute for models with a gated MLP, if it differs");
  }
};

struct Device {
  std::string name;
  std::string base;  // the entry whose figures and calibration it shares
  // The entry whose calibration it uses because no runs of this hardware were fitted.
  std::string borrows;
  std::string platform;    // what its training software is written for: cuda, neuron, tpu
  Figure peak_tflops;      // dense, 16 bit
  Figure memory_gb;        // 1e9 bytes
  Figure memory_gb_per_s;  // 1e9 bytes
  Figure link_gb_per_s;    // to the node's other devices, each way
  Figure devices_per_node;
  Figure devices_per_chip;        // 0: a device is a chip
  Figure peak_fp8_tflops;         // dense, 8 bit; 0: not published, or none
  Figure network_gb_per_s;        // of a node, each way
  Figure price_per_node_hour;     // US dollars on demand; 0: not sold by the hour
  Figure reserved_per_node_hour;  // same, with a commitment of years
  Figure spot_per_node_hour;      // same, if the seller may reclaim it
  Figure spot_interruptions_per_node_hour;
  Figure migration_weeks;  // of one engineer, to port a model from another platform
  Figure power_w;          // of a device, at most; 0: not published
  Stack stack;
  Efficiency prior;  // start of the fit, and its result if there are few runs
  double per_chip() const { return devices_per_chip.value > 0 ? devices_per_chip.value : 1; }
  // The entry whose calibration it uses.
  const std::string& calibrated_as() const {
    return !borrows.empty() ? borrows : base.empty() ? name : base;
  }
  bool may_use(const std::string& calibration) const {
    return calibration == calibrated_as() || calibration == name ||
           (!base.empty() && calibration == base);
  }
  template <class V>
  void visit_fields(V& v) {
    v("base", base, "the entry whose figures and calibration this one shares");
    v("borrows", borrows,
      "the entry whose calibration it uses, if no runs of this hardware were fitted");
    v("platform", platform, "platform of its training software: cuda, neuron, tpu");
    v("peak_tflops", peak_tflops, "dense 16-bit TFLOP/s");
    v("memory_gb", memory_gb, "device memory, 1e9 bytes");
    v("memory_gb_per_s", memory_gb_per_s, "memory bandwidth, 1e9 bytes/s");
    v("link_gb_per_s", link_gb_per_s, "GB/s to the node's other devices, each way");
    v("devices_per_node", devices_per_node, "devices that share the node's network");
    v("devices_per_chip", devices_per_chip, "devices that the vendor counts as one chip");
    v("peak_fp8_tflops", peak_fp8_tflops, "dense 8-bit TFLOP/s");
    v("network_gb_per_s", network_gb_per_s, "network GB/s of a node, each way");
    v("price_per_node_hour", price_per_node_hour, "US dollars on demand");
    v("reserved_per_node_hour", reserved_per_node_hour, "US dollars, with a commitment of years");
    v("spot_per_node_hour", spot_per_node_hour, "US dollars, if the seller may reclaim it");
    v("spot_interruptions_per_node_hour", spot_interruptions_per_node_hour,
      "how often a spot node is reclaimed");
    v("migration_weeks", migration_weeks, "weeks of one engineer to port from another platform");
    v("power_w", power_w, "maximum watts per device");
    v("stack", stack, "training software settings, unless a run states otherwise");
    v("prior", prior, "usual efficiencies");
  }
};

class Hardware {
 public:
  // Throws: kNoInput; kConfig on unknown fields, or figures without a source or not above zero.
  explicit Hardware(const std::filesystem::path& path = default_path());
  static std::filesystem::path default_path();
  // The entry with this name, else the largest node of this family ("p4d" -> p4d.24xlarge); nullptr
  // if there is none.
  const Device* find(const std::string& name) const;
  // Same. Throws `fault` with the nearest names and all known ones: kUsage for the name of a flag,
  // kBadData for one in a file.
  const Device& at(const std::string& name, ExitCode fault = ExitCode::kUsage) const;
  // Same, for hardware to be rented: a family's node is preferred to an entry without a price
  // ("trn1" -> trn1.32xlarge).
  const Device& node(const std::string& name) const;
  // Every entry, by name.
  const std::map<std::string, Device>& devices() const { return devices_; }
  // The device whose name, or a dash-separated part of it, occurs in `text`; nullptr if there is
  // none ("a100_multi_node" -> a100).
  const Device* named_in(const std::string& text) const;

 private:
  const Device* largest_of(const std::string& family) const;
  std::map<std::string, Device> devices_;
};

}  // namespace hum::plan
