#include "graph/ops/custom_call.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/op.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

constexpr std::string_view kTarget = "target", kAliases = "aliases", kSetting = "setting.";

Shapes infer_custom_call(const Node& node) {
  const Region& fallback = node.regions().at(0);
  Shapes shapes;
  for (const Value& result : fallback.results) shapes.push_back(result.shape());
  const Dims& aliases = node.attributes().get<Dims>(kAliases);
  for (size_t i = 0; i < aliases.size(); i += 2) {
    const int64_t result = aliases[i], input = aliases[i + 1];
    HUM_REQUIRE(result >= 0 && result < static_cast<int64_t>(shapes.size()) && input >= 0 &&
                    input < static_cast<int64_t>(node.inputs().size()),
                "custom_call: alias of result {} to input {} is out of range", result, input);
    const Shape& from = node.input(static_cast<int>(input)).shape();
    HUM_REQUIRE(shapes[static_cast<size_t>(result)] == from,
                "custom_call: result {} is {}, but the input {} it overwrites is {}", result,
                shapes[static_cast<size_t>(result)], input, from);
  }
  return shapes;
}

std::vector<Placement> place_custom_call(const Node& node) {
  std::vector<Placement> placements;
  for (const Value& result : node.regions()[0].results) placements.push_back(result.placement());
  return placements;
}

Values custom_call_vjp(const Node& node, std::span<const Value> cotangents) {
  return pullback(inline_region(node.regions()[0], node.inputs()), cotangents, node.inputs());
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string setting_text(const Attribute& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{} : i64", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.8e} : f32", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) return array_text(*dims);
  HUM_CHECK(false, "custom_call: a setting is a bool, i64, double, string or list of i64");
  return {};
}

// "[dense<[1, 0]> : tensor<2xindex>, ...]"
std::string row_major_layouts(const Shapes& shapes) {
  std::string text;
  for (const Shape& shape : shapes) {
    Dims minor_to_major;
    for (int64_t dim = shape.rank() - 1; dim >= 0; --dim) minor_to_major.push_back(dim);
    const std::string order = minor_to_major.empty() ? "" : list_text(minor_to_major);
    text += fmt::format("{}dense<{}> : tensor<{}xindex>", text.empty() ? "" : ", ", order,
                        minor_to_major.size());
  }
  return "[" + text + "]";
}

// A single result is aliased as a whole (index []); one of several by its index in the tuple.
std::string aliases_text(const Dims& aliases, size_t result_count) {
  std::string text;
  for (size_t i = 0; i < aliases.size(); i += 2) {
    text += fmt::format(
        "{}#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, "
        "operand_tuple_indices = []>",
        text.empty() ? "" : ", ", result_count == 1 ? "" : fmt::format("{}", aliases[i]),
        aliases[i + 1]);
  }
  return "[" + text + "]";
}

void print_custom_call(Printer& out, const Node& node) {
  if (!out.lowering().use_kernel(node)) {
    return out.inline_body(node, node.regions()[0], node.inputs());
  }
  const Attributes settings = custom_call_settings(node);
  std::string config;
  for (const auto& [name, value] : settings.items()) {
    config += fmt::format("{}{} = {}", config.empty() ? "" : ", ", name, setting_text(value));
  }
  Shapes inputs;
  for (const Value& input : node.inputs()) inputs.push_back(input.shape());
  const Dims& aliases = node.attributes().get<Dims>(kAliases);
  std::string attributes = fmt::format(
      "call_target_name = {}, api_version = 4 : i32, has_side_effect = false, backend_config = "
      "{{{}}}, operand_layouts = {}, result_layouts = {}",
      quoted(custom_call_target(node)), config, row_major_layouts(inputs),
      row_major_layouts(node.shapes()));
  if (!aliases.empty()) {
    attributes += ", output_operand_aliases = " + aliases_text(aliases, node.shapes().size());
  }
  out.define_simple(node, attributes);
}

Cost custom_call_cost(const Node& node) {
  Cost total{0, bytes_touched(node)};
  for (const Node* inner : topological_order(node.regions()[0].results)) {
    total.flops += inner->op().cost(*inner).flops;
  }
  return total;
}

}  // namespace

const OpDef kCustomCallOp = {"custom_call",
                             infer_custom_call,
                             place_custom_call,
                             custom_call_vjp,
                             print_custom_call,
                             custom_call_cost,
                             {.memory = MemoryClass::kOpaque, .elementwise = false}};

bool is_custom_call(const Node& node) { return &node.op() == &kCustomCallOp; }

const std::string& custom_call_target(const Node& node) {
  HUM_CHECK(is_custom_call(node), "{} is not a custom call", node.op().name);
  return node.attributes().get<std::string>(kTarget);
}

Attributes custom_call_settings(const Node& node) {
  Attributes settings;
  for (const auto& [name, value] : node.attributes().items()) {
    if (name.starts_with(kSetting)) settings.set(name.substr(kSetting.size()), value);
  }
  return settings;
}

Values repeat_custom_call(const Node& call, Values inputs) {
  Attributes attributes = call.attributes();
  attributes.set(fmt::format("{}repeated", kSetting), true);
  return NodeBuilder{call.op(),      std::move(inputs), std::move(attributes),
                     call.regions(), call.custom_vjp(), call.where()}
      .values();
}

Values custom_call(std::string target, std::span<const Value> inputs, const Attributes& settings,
                   const std::function<Values(std::span<const Value>)>& fallback,
                   CustomCallOptions options, std::source_location where) {
  auto [region, captures] = trace_region(inputs, fallback);
  if (!captures.empty()) {
    fail(ExitCode::kFailure,
         fmt::format("custom_call: the fallback of {} uses {} made by {}, which is not an input",
                     target, captures[0].shape(), captures[0].node().op().name),
         "a kernel can only read its inputs: add the value to them", where);
  }
  Attributes attributes;
  for (const auto& [name, value] : settings.items()) {
    attributes.set(std::string(kSetting) + name, value);
  }
  Dims aliases;
  for (const auto& [result, input] : options.output_operand_aliases) {
    aliases.insert(aliases.end(), {result, input});
  }
  attributes.set(std::string(kTarget), std::move(target));
  attributes.set(std::string(kAliases), std::move(aliases));
  return NodeBuilder{.op = kCustomCallOp,
                     .inputs = {inputs.begin(), inputs.end()},
                     .attributes = std::move(attributes),
                     .regions = {std::move(region)},
                     .custom_vjp = std::move(options.vjp),
                     .where = where}
      .values();
}

}  // namespace hum::graph
