#include "graph/passes/common_subexpressions.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/structure.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

size_t mixed(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

struct AttributeHash {
  size_t operator()(const Dims& dims) const {
    size_t hash = dims.size();
    for (const int64_t dim : dims) hash = mixed(hash, static_cast<size_t>(dim));
    return hash;
  }
  size_t operator()(const Bytes& bytes) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  template <typename T>
  size_t operator()(const T& value) const {
    return std::hash<T>()(value);
  }
};

bool are_equal(const Attribute& a, const Attribute& b) {
  if (a == b) return true;
  const auto *left = std::get_if<Bytes>(&a), *right = std::get_if<Bytes>(&b);
  return left != nullptr && right != nullptr && **left == **right;
}

bool are_equal(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a.items(), b.items(), [](const auto& left, const auto& right) {
    return left.first == right.first && are_equal(left.second, right.second);
  });
}

size_t hash_of(const Node& node, const Values& inputs) {
  size_t hash = std::hash<const void*>()(&node.op());
  for (const auto& [name, value] : node.attributes().items()) {
    hash = mixed(hash, std::visit(AttributeHash(), value));
  }
  for (const Value& input : inputs) {
    hash = mixed(hash, std::hash<const void*>()(&input.node()));
    hash = mixed(hash, static_cast<size_t>(input.index()));
  }
  return hash;
}

// `roots`, with duplicate computations merged.
Values merged(const Values& roots) {
  std::unordered_multimap<size_t, std::shared_ptr<const Node>> seen;
  return rewrite(roots, [&](const Node& node, const Values& inputs) -> std::optional<Values> {
    if (!node.regions().empty()) {
      std::vector<Region> regions;
      for (const Region& region : node.regions()) {
        regions.push_back({region.parameters, merged(region.results)});
      }
      return outputs_of(*clone_with(node, inputs, std::move(regions)));
    }
    const size_t hash = hash_of(node, inputs);
    const auto [first, last] = seen.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const Node& other = *at->second;
      if (&other.op() == &node.op() && other.inputs() == inputs &&
          are_equal(other.attributes(), node.attributes())) {
        return outputs_of(other);
      }
    }
    const auto kept = inputs == node.inputs() ? node.shared_from_this()
                                              : clone_with(node, inputs, node.regions());
    seen.emplace(hash, kept);
    return outputs_of(*kept);
  });
}

}  // namespace

Function merge_common_subexpressions(const Function& function) {
  Function result = function;
  result.results = merged(function.results);
  return result;
}

}  // namespace hum::graph
