// Prints a Function as StableHLO text, in the old, small subset that all plugins accept.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/function.h"
#include "graph/op.h"

namespace hum::graph {

// The platform's capabilities; runtime sets them from the opened plugin.
struct Lowering {
  // True: print this custom_call node as a call to its kernel. False: inline its fallback.
  std::function<bool(const Node&)> use_kernel = [](const Node&) { return false; };
  int replicas = 1;
  // Whether rfft and irfft are printed as StableHLO's fft; otherwise as products with a cosine
  // table.
  bool has_fft = true;
};

// The module text. Equal graphs give equal text.
std::string print_module(const Function& function, const Lowering& lowering = {});

// "tensor<8x128xf32>"
std::string type_text(const Shape& shape);
// "array<i64: 1, 2>" / "[1, 2]" / "dense<[1, 2]> : tensor<2xi64>"
std::string array_text(std::span<const int64_t> values);
std::string list_text(std::span<const int64_t> values);

// The writer passed to an op's print function.
class Printer {
 public:
  explicit Printer(const Lowering& lowering) : lowering_(lowering) {}

  const Lowering& lowering() const { return lowering_; }
  // The mesh of the function being printed.
  const Mesh& mesh() const { return mesh_; }

  // The SSA name of a value that has been printed: "%12" or "%12#1".
  std::string operand(const Value& value) const;
  // "%1, %2"
  std::string operands(std::span<const Value> values) const;
  // "tensor<...>, tensor<...>"
  static std::string types(std::span<const Value> values);
  static std::string types(std::span<const Shape> shapes);

  // Writes "%n = <text>" (or "%n:k = <text>") and names the node's outputs.
  void define(const Node& node, const std::string& text);
  // "stablehlo.<name> %a, %b <attributes> : (types) -> type", the plain form of most ops.
  void define_simple(const Node& node, const std::string& attributes = "");
  // "%n = "<generic>"(...)" with regions: text before, regions as ({ ... }, { ... }), text after.
  void define_with_regions(const Node& node, const std::string& head,
                           std::span<const Region> regions, const std::string& tail);
  // Prints the region's body inline with its parameters bound to `arguments`, and names `node`'s
  // outputs after its results; an empty result names none.
  void inline_body(const Node& node, const Region& region, std::span<const Value> arguments);
  // Prints a line for a helper value; returns its new name ("%13").
  std::string emit(const std::string& text);
  // Whether anything printed in this scope reads output i of the node.
  bool is_used(const Node& node, int i) const { return used_.back().contains({&node, i}); }
  // Gives output 0 of the node (or its i-th) an existing name.
  void alias(const Value& value, const std::string& name);

  void function(const Function& function);
  std::string take() { return std::move(text_); }

 private:
  using Key = std::pair<const Node*, int>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.first) * 31 + static_cast<size_t>(key.second);
    }
  };
  using Scope = std::unordered_map<Key, std::string, KeyHash>;

  void body(std::span<const Value> results);
  void line(const std::string& text);

  const Lowering& lowering_;
  Mesh mesh_;
  std::vector<Scope> scopes_;
  std::vector<std::unordered_set<Key, KeyHash>> used_;
  std::string text_;
  int next_name_ = 0;
  int indent_ = 1;
};

}  // namespace hum::graph
