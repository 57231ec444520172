// The six efficiencies that are fitted to measured runs, one set per hardware. Everything else in
// the model of a step is counted or stated by the vendor.
#pragma once

#include <array>
#include <string_view>

namespace hum::plan {

struct Efficiency {
  double gemm = 0.75;              // of the peak FLOP/s, in large matrix products
  double memory = 0.8;             // of the memory's bandwidth
  double host_ms_per_layer = 2.5;  // the host's time to launch a block forward and backward
  double link = 0.8;               // of the link's bandwidth, in collectives within a node
  double network = 0.85;           // of the network's bandwidth, between nodes
  double sync_us = 30;             // host wait of a collective per doubling of its ranks
  template <class V>
  void visit_fields(V& v) {
    v("gemm", gemm, "share of the peak FLOP/s in matrix products");
    v("memory", memory, "share of the memory's bandwidth");
    v("host_ms_per_layer", host_ms_per_layer, "host time to launch a block, forward and backward");
    v("link", link, "share of the link's bandwidth within a node");
    v("network", network, "share of the network's bandwidth between nodes");
    v("sync_us", sync_us, "host wait of a collective per doubling of its ranks, microseconds");
  }
};

inline constexpr int kEfficiencies = 6;
using EfficiencyVector = std::array<double, kEfficiencies>;

inline EfficiencyVector to_vector(const Efficiency& e) {
  return {e.gemm, e.memory, e.host_ms_per_layer, e.link, e.network, e.sync_us};
}
inline Efficiency from_vector(const EfficiencyVector& v) {
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

}  // namespace hum::plan
