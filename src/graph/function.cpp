#include "graph/function.h"

#include <unordered_set>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/structure.h"

namespace hum::graph {

void verify(const Function& function) {
  std::unordered_set<const Node*> listed;
  for (const Value& value : function.parameters) {
    HUM_REQUIRE(is_parameter(value.node()), "{}: a listed parameter is the result of {}",
                function.name, value.node().op().name);
    HUM_REQUIRE(listed.insert(&value.node()).second, "{}: parameter '{}' is listed twice",
                function.name, parameter_name(value.node()));
  }
  for (const Node* node : topological_order(function.results)) {
    HUM_REQUIRE(!is_parameter(*node) || listed.contains(node),
                "{}: results depend on parameter '{}' (made at {}), which is not in the list",
                function.name, parameter_name(*node), node->where_string());
  }
  for (const auto& [parameter, result] : function.donations) {
    const Shape& from = function.parameters.at(static_cast<size_t>(parameter)).shape();
    const Shape& to = function.results.at(static_cast<size_t>(result)).shape();
    HUM_REQUIRE(from == to, "{}: donated parameter {} is {}, result {} is {}", function.name,
                parameter, from, result, to);
  }
}

}  // namespace hum::graph
