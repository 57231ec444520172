// Placement of a value on the device mesh, one entry per mesh axis. In replica mode, every shape in
// a graph is the shape that one device holds.
//
// Rules (checked while the graph is built; ENGINE "Placement types"): partial sums may only pass
// through linear ops; all-reduce, all-gather and reduce-scatter change the placement; any other mix
// of placements is an error that names the source line.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hum::graph {

// Mesh axes inside one pipeline stage; tensor is innermost. Pipeline sends are not part of
// placements.
enum class Axis : int { kData = 0, kTensor = 1 };
inline constexpr int kAxisCount = 2;

enum class PlacementKind { kReplicated, kSharded, kPartial };

struct AxisPlacement {
  PlacementKind kind = PlacementKind::kReplicated;
  // kSharded: the sharded dim, or kNoDim if the shards differ but form no dim of this value.
  int dim = 0;
  static constexpr int kNoDim = -1;
  bool operator==(const AxisPlacement&) const = default;
};

inline constexpr AxisPlacement kReplicated = {PlacementKind::kReplicated, 0};
inline constexpr AxisPlacement kPartial = {PlacementKind::kPartial, 0};
inline constexpr AxisPlacement sharded(int dim) { return {PlacementKind::kSharded, dim}; }

struct Placement {
  std::array<AxisPlacement, kAxisCount> axes{};

  AxisPlacement& operator[](Axis axis) { return axes[static_cast<size_t>(axis)]; }
  const AxisPlacement& operator[](Axis axis) const { return axes[static_cast<size_t>(axis)]; }
  bool is_replicated() const { return *this == Placement{}; }
  bool operator==(const Placement&) const = default;
  // "data: S(0), tensor: P"; "replicated" if it is so on every axis.
  std::string to_string() const;
};

// Number of devices along each mesh axis. Replica r has tensor position r % tensor and data
// position r / tensor.
struct Mesh {
  int data = 1;
  int tensor = 1;

  int size() const { return data * tensor; }
  int size(Axis axis) const { return axis == Axis::kData ? data : tensor; }
  // The groups of replicas that differ only in `axis`, one group per position on the other axis.
  std::vector<std::vector<int64_t>> groups(Axis axis) const;
  bool operator==(const Mesh&) const = default;
};

}  // namespace hum::graph

template <>
struct fmt::formatter<hum::graph::Placement> : fmt::formatter<std::string> {
  auto format(const hum::graph::Placement& placement, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(placement.to_string(), context);
  }
};
