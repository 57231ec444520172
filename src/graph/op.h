// Everything the graph knows about an op: one OpDef row. No other code may switch over op kinds.
#pragma once

#include <span>
#include <string_view>

#include "base/required.h"
#include "graph/value.h"

namespace hum::graph {

class Printer;

// Floating-point operations and bytes accessed if the op runs alone.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// How an op's result is stored, and whether XLA's fused loops include the op. Used by the memory
// estimate, the work count and selective recomputation.
enum class MemoryClass {
  kGiven,       // a parameter or a constant; not computed
  kAlias,       // the same array as its input, with another name or shape
  kCheap,       // part of a fused loop; recomputed for each reader
  kExpensive,   // part of a fused loop; written if it has two readers
  kReduction,   // written; a fused loop may read it; its inputs are not fused into it
  kProduct,     // a matrix product or convolution; otherwise as kOpaque
  kCollective,  // exchanges data between devices; otherwise as kOpaque
  kLoop,        // runs its regions; otherwise as kOpaque
  kOpaque,      // reads and writes whole arrays
};

// The number e for which op(x, e) is x.
enum class Identity { kNone, kZero, kOne, kAllBits, kLowest, kHighest };
// The identity as a number. Throws (a bug in hum) for kAllBits of a float, which is not a number.
double identity_number(Identity identity, DType dtype);

// Properties used by the passes, the memory estimate and the work count. The op tests run every op
// on the plugin and fail if it is not as claimed: element-wise, commutative, identity, idempotent,
// involution; also if a true one of these is not claimed.
struct OpKind {
  Required<MemoryClass> memory;
  // Has one result with the inputs' dims. Each element depends only on the inputs' elements at the
  // same index, and the index itself does not matter.
  Required<bool> elementwise;
  // For element-wise ops with two inputs: op(x, y) = op(y, x), op(x, identity) = x, op(x, x) = x.
  bool commutative = false;
  Identity identity = Identity::kNone;
  bool idempotent = false;
  // op(op(x)) = x, if both have the same attributes.
  bool involution = false;
  // The vjp is linear enough to take cotangents that are partial sums over a mesh axis; otherwise
  // they are all-reduced first.
  bool takes_partial_cotangents = false;
  // A cheaper form of the only result of a node on `inputs` (its own, already simplified), beyond
  // what the fields above express; empty if there is none.
  Value (*simplify)(const Node& node, const Values& inputs) = nullptr;
};

struct OpDef {
  // The StableHLO name, if it has one.
  std::string_view name;
  // Infers result shapes; throws on misuse. The node has inputs, attributes and regions, but no
  // shapes yet.
  Shapes (*infer)(const Node& node);
  // Infers result placements from the inputs' placements; throws on misuse. Shapes are already set.
  std::vector<Placement> (*place)(const Node& node);
  // Computes cotangents of the inputs (empty Value: none) from those of the outputs (some may be
  // empty if the op has several). kNoGradient: not differentiable; a gradient that reaches the op
  // is an error.
  Values (*vjp)(const Node& node, std::span<const Value> cotangents);
  // Writes the op's StableHLO text.
  void (*print)(Printer& out, const Node& node);
  Cost (*cost)(const Node& node);
  OpKind kind;
};

inline constexpr auto kNoGradient = static_cast<decltype(OpDef::vjp)>(nullptr);
// A vjp for ops whose gradient is zero almost everywhere (compare, floor, iota).
Values zero_gradient(const Node& node, std::span<const Value> cotangents);

// All ops of the engine (graph/ops/table.cpp).
std::span<const OpDef* const> op_table();

// Common cost functions.
Cost elementwise_cost(const Node& node);
Cost data_movement_cost(const Node& node);
// Bytes of all inputs and outputs.
double bytes_touched(const Node& node);

// Common placement rules (graph/placement.cpp).
// Element-wise and not linear: no partial sums; shards must match.
std::vector<Placement> place_elementwise(const Node& node);
// Linear in all inputs together (add, negate, convert between floats): all inputs partial or none.
std::vector<Placement> place_linear(const Node& node);
// Linear in each input separately (multiply): at most one partial input.
std::vector<Placement> place_multilinear(const Node& node);
// Input 0 selects among the others (select): these may be partial sums and zeros if the condition
// is the same on all devices that hold a part.
std::vector<Placement> place_choice(const Node& node);
// No inputs, or all inputs replicated.
std::vector<Placement> place_replicated(const Node& node);

}  // namespace hum::graph
