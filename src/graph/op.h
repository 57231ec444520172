// What the graph knows of an op: one OpDef row. Nothing else may switch over op kinds.
#pragma once

#include <span>
#include <string_view>

#include "base/required.h"
#include "graph/value.h"

namespace hum::graph {

class Printer;

// Floating-point operations and bytes touched when the op runs alone.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// What an op's result is in memory, and whether XLA's fused loops take the op in. The memory
// estimate, the count of work and selective recomputation go by it.
enum class MemoryClass {
  kGiven,       // a parameter or a constant: nothing is computed
  kAlias,       // its input's array under another name or shape
  kCheap,       // part of a fused loop, and computed again for each reader
  kExpensive,   // part of a fused loop, but written once it has two readers
  kReduction,   // written; a fused loop may read it, but does not compute what it reads
  kProduct,     // a matrix product or convolution; otherwise as kOpaque
  kCollective,  // exchanges data between devices; otherwise as kOpaque
  kLoop,        // runs its regions; otherwise as kOpaque
  kOpaque,      // reads and writes whole arrays
};

// The number e for which op(x, e) is x.
enum class Identity { kNone, kZero, kOne, kAllBits, kLowest, kHighest };
// The element that holds it; all bits of a float are not a number.
double identity_number(Identity identity, DType dtype);

// What passes, the memory estimate and the count of work need to know of an op. The op tests run
// every op on the plugin: a claim that is false fails there, and so does a property not claimed.
struct OpKind {
  Required<MemoryClass> memory;
  // One result, of its inputs' dims: each element depends on the inputs' elements at its place, and
  // the place does not matter.
  Required<bool> elementwise;
  // Of element-wise ops with two inputs: op(x, y) is op(y, x), op(x, identity) is x, op(x, x) is x.
  bool commutative = false;
  Identity identity = Identity::kNone;
  bool idempotent = false;
  // op(op(x)) is x, both with the same attributes.
  bool involution = false;
  // The vjp is linear enough to be handed cotangents that are still partial sums over a mesh axis;
  // else they are all-reduced first.
  bool takes_partial_cotangents = false;
  // What the only result of a node is on `inputs` (its own, simplified already) with less to
  // compute, beyond what the fields above say; empty: no simpler form.
  Value (*simplify)(const Node& node, const Values& inputs) = nullptr;
};

struct OpDef {
  // StableHLO's name where it has one.
  std::string_view name;
  // Result shapes; throws on misuse. The node has inputs, attributes and regions, but no shapes
  // yet.
  Shapes (*infer)(const Node& node);
  // Result placements from the inputs' placements; throws on misuse. Shapes are known by now.
  std::vector<Placement> (*place)(const Node& node);
  // Cotangents of the inputs (empty Value: none) from those of the outputs (some may be empty when
  // the op has several). kNoGradient: not differentiable, gradients stop here with an error unless
  // nothing flows.
  Values (*vjp)(const Node& node, std::span<const Value> cotangents);
  // Writes the op's StableHLO text.
  void (*print)(Printer& out, const Node& node);
  Cost (*cost)(const Node& node);
  OpKind kind;
};

inline constexpr auto kNoGradient = static_cast<decltype(OpDef::vjp)>(nullptr);
// A vjp for ops whose gradient is zero almost everywhere (compare, floor, iota).
Values zero_gradient(const Node& node, std::span<const Value> cotangents);

// Every op of the engine, in one list (graph/ops/table.cpp).
std::span<const OpDef* const> op_table();

// Common costs.
Cost elementwise_cost(const Node& node);
Cost data_movement_cost(const Node& node);
// Bytes of all inputs and outputs.
double bytes_touched(const Node& node);

// Common placement rules (graph/placement.cpp).
// All inputs elementwise, op not linear: no partial sums; shards must agree.
std::vector<Placement> place_elementwise(const Node& node);
// The op is linear in all its inputs together (add, negate, convert between floats): all partial or
// none.
std::vector<Placement> place_linear(const Node& node);
// Linear in each input alone (multiply): at most one partial.
std::vector<Placement> place_multilinear(const Node& node);
// Input 0 chooses among the others (select): partial sums and zeros, by a condition that is the
// same on all devices that hold a part.
std::vector<Placement> place_choice(const Node& node);
// No inputs, or all inputs replicated.
std::vector<Placement> place_replicated(const Node& node);

}  // namespace hum::graph
