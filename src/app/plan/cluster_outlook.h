// The options and the report of `hum plan --model --cluster`.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "plan/outlook.h"
#include "plan/search.h"

namespace hum::app {

struct Cluster {
  const plan::Device* device = nullptr;
  int64_t nodes = 0;
  int64_t devices() const { return nodes * static_cast<int64_t>(device->devices_per_node.value); }
};

// Parses "trn1.32xlarge:16", or a family, "trn1:16", whose chosen node it logs. Throws kUsage, for
// unknown hardware too.
Cluster parse_cluster(const std::string& text, const plan::Hardware& hardware);

// The model with `seq` tokens per sequence; 0: its longest. Throws kUsage below 0.
plan::Transformer with_sequence(plan::Transformer model, int64_t seq);

// The part of a layout that the user fixes; 0 and auto: the fastest that fits.
struct LayoutWishes {
  int64_t global_batch = 1024, tp = 0, pp = 0, micro_batch = 0, interleave = 0;
  std::string recompute = "auto", zero = "auto";
  template <class V>
  void visit_fields(V& v) {
    v("batch", global_batch, "sequences per step");
    v("tp", tp, "tensor-parallel ranks (0: the fastest that fits)");
    v("pp", pp, "pipeline stages (0: the fastest that fits)");
    v("micro_batch", micro_batch, "sequences per micro-batch (0: the fastest that fits)");
    v("interleave", interleave, "model chunks per stage (0: the fastest that fits)");
    v("recompute", recompute, "none|selective|full|auto");
    v("zero", zero,
      "0|1|auto: ZeRO stage; 1 splits optimizer state over dp (auto: the hardware's usual)");
  }
};

// Finds the layouts that fit and match the wishes, fastest first; at least one. The software's
// switches are the hardware's usual ones. Throws kUsage when the wishes are impossible or nothing
// fits; the hint names the nearest layout that works.
plan::SearchResult find_layouts(const plan::Transformer& model, const LayoutWishes& wishes,
                                const Cluster& cluster, const plan::Efficiency& efficiency);

Json outlook_report(const std::string& name, const plan::Transformer& model, const Cluster& cluster,
                    const plan::Outlook& outlook);
// [{"tp", "pp", "dp", "micro_batch", "interleave", "recompute", "step_s", "memory_bytes",
// "pareto"}]
Json layouts_report(const plan::SearchResult& found);
std::string outlook_text(const Json& report);

struct OutlookOptions {
  std::string model;    // a name, or a Hugging Face config.json
  std::string cluster;  // hardware:nodes
  int64_t seq = 0;      // tokens per sequence; 0: the model's longest
  LayoutWishes layout;
  plan::Goal goal;
  bool search = false;  // the report lists every layout that fits
  // Files of the plot of these layouts (empty: none), the calibration and the hardware (empty:
  // hum's own).
  std::string plot, calibration, hardware_file;
};

// Returns outlook_report of the fastest layout, with "layouts" after --search. Writes the plot.
// Throws what the functions above and reading the files throw.
Json look_ahead(const OutlookOptions& options);

}  // namespace hum::app
