// Where the parts of a value live on the device mesh, one statement per mesh axis. Replica mode:
// every shape in a graph is the shape one device holds.
//
// Rules (checked while the graph is built; ENGINE "Placement types"): partial sums pass through
// linear ops only; an all-reduce, all-gather or reduce-scatter changes the placement; anything else
// that mixes placements wrongly is refused with the source line.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hum::graph {

// Mesh axes inside one pipeline stage; tensor is innermost. Pipeline sends are outside the
// placement types.
enum class Axis : int { kData = 0, kTensor = 1 };
inline constexpr int kAxisCount = 2;

enum class PlacementKind { kReplicated, kSharded, kPartial };

struct AxisPlacement {
  PlacementKind kind = PlacementKind::kReplicated;
  // kSharded: the dim that is cut, or kNoDim when the shards differ but form no dim of this value.
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
  // "data: S(0), tensor: P"; "replicated" when it is on every axis.
  std::string to_string() const;
};

// How many devices stand along each mesh axis. Replica r is at tensor position r % tensor and data
// position r / tensor.
struct Mesh {
  int data = 1;
  int tensor = 1;

  int size() const { return data * tensor; }
  int size(Axis axis) const { return axis == Axis::kData ? data : tensor; }
  // The replicas that differ in `axis` alone, a list for each place on the other axis.
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
