// Values and the nodes that compute them. A graph has no owner: a Value keeps alive everything it
// was computed from, and unused values are never printed. Nodes are immutable.
#pragma once

#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/placement.h"
#include "graph/shape.h"

namespace hum::graph {

class Node;
struct OpDef;

// One result of one node; cheap to copy. A default-constructed Value is empty ("no gradient",
// "absent").
class Value {
 public:
  Value() = default;
  Value(std::shared_ptr<const Node> node, int index) : node_(std::move(node)), index_(index) {}

  explicit operator bool() const { return node_ != nullptr; }
  const Shape& shape() const;
  const Placement& placement() const;
  DType dtype() const { return shape().dtype; }
  int rank() const { return shape().rank(); }
  const std::vector<int64_t>& dims() const { return shape().dims; }
  int64_t size(int dim) const { return shape().size(dim); }

  const Node& node() const { return *node_; }
  const std::shared_ptr<const Node>& node_ptr() const { return node_; }
  int index() const { return index_; }
  bool operator==(const Value&) const = default;

 private:
  std::shared_ptr<const Node> node_;
  int index_ = 0;
};

using Values = std::vector<Value>;
using Shapes = std::vector<Shape>;
using Dims = std::vector<int64_t>;

// A function body inside an op. Closed: its results depend only on its parameters and on constants.
struct Region {
  Values parameters;
  Values results;
};

// Raw little-endian elements of a constant.
using Bytes = std::shared_ptr<const std::vector<std::byte>>;
using Attribute = std::variant<bool, int64_t, double, std::string, Dims, DType, Bytes>;

// Named settings of a node, sorted by name.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> items);

  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Adds or replaces a setting.
  void set(std::string name, Attribute value);
  // Throws (a bug in hum) if the setting is absent or of another type.
  template <typename T>
  const T& get(std::string_view name) const {
    return std::get<T>(at(name));
  }
  const std::vector<std::pair<std::string, Attribute>>& items() const { return items_; }

 private:
  const Attribute* find(std::string_view name) const;
  const Attribute& at(std::string_view name) const;
  std::vector<std::pair<std::string, Attribute>> items_;
};

// A custom gradient: (inputs, outputs, cotangents of outputs) -> cotangents of inputs, empty if
// there is none.
using CustomVjp =
    std::function<Values(std::span<const Value> inputs, std::span<const Value> outputs,
                         std::span<const Value> cotangents)>;

class Node : public std::enable_shared_from_this<Node> {
 public:
  ~Node();

  const OpDef& op() const { return *op_; }
  const Attributes& attributes() const { return attributes_; }
  const Values& inputs() const { return inputs_; }
  const Value& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  const std::vector<Region>& regions() const { return regions_; }
  const Shapes& shapes() const { return shapes_; }
  const std::vector<Placement>& placements() const { return placements_; }
  const CustomVjp& custom_vjp() const { return custom_vjp_; }
  std::source_location where() const { return where_; }
  int output_count() const { return static_cast<int>(shapes_.size()); }
  Value output(int i = 0) const { return {shared_from_this(), i}; }
  // "model.cpp:42"
  std::string where_string() const;

 private:
  friend struct NodeBuilder;
  Node() = default;
  const OpDef* op_ = nullptr;
  Attributes attributes_;
  Values inputs_;
  std::vector<Region> regions_;
  Shapes shapes_;
  std::vector<Placement> placements_;
  CustomVjp custom_vjp_;
  std::source_location where_;
};

// Everything needed to build a node; build() infers shapes and placements and throws on misuse,
// naming `where`.
struct NodeBuilder {
  const OpDef& op;
  Values inputs = {};
  Attributes attributes = {};
  std::vector<Region> regions = {};
  CustomVjp custom_vjp = {};
  std::source_location where = std::source_location::current();

  std::shared_ptr<const Node> build() &&;
  // The single result of a one-result op.
  Value value() && { return {std::move(*this).build(), 0}; }
  Values values() &&;
};

// The same node on other inputs (and regions).
std::shared_ptr<const Node> clone_with(const Node& node, Values inputs,
                                       std::vector<Region> regions);

// A placeholder that the function's caller fills in.
Value parameter(std::string name, Shape shape, Placement placement = {},
                std::source_location where = std::source_location::current());

// Nodes that `roots` depend on, inputs before users, in an order that depends only on the graph.
std::vector<const Node*> topological_order(std::span<const Value> roots);

// The region's results with `arguments` in place of its parameters.
Values inline_region(const Region& region, std::span<const Value> arguments);

// Traces `body` on new parameters like `arguments`, and closes it: outside values that the body
// uses become extra parameters at the end, in a fixed order, listed in `captures`.
struct TracedRegion {
  Region region;
  Values captures;
};
TracedRegion trace_region(std::span<const Value> arguments,
                          const std::function<Values(std::span<const Value>)>& body);

}  // namespace hum::graph
