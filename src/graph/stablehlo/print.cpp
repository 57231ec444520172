#include "graph/stablehlo/print.h"

#include <algorithm>

#include "base/error.h"

namespace hum::graph {
namespace {

template <typename T>
std::string joined(const std::vector<T>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string type_text(const Shape& shape) {
  std::string text = "tensor<";
  for (const int64_t size : shape.dims) text += fmt::format("{}x", size);
  return text + std::string(name(shape.dtype)) + ">";
}

std::string array_text(std::span<const int64_t> values) {
  if (values.empty()) return "array<i64>";
  return fmt::format("array<i64: {}>", fmt::join(values, ", "));
}

std::string list_text(std::span<const int64_t> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string Printer::operand(const Value& value) const {
  const Scope& scope = scopes_.back();
  const auto found = scope.find({&value.node(), value.index()});
  HUM_CHECK(found != scope.end(), "{} from {} was not written before its use",
            value.node().op().name, value.node().where_string());
  return found->second;
}

std::string Printer::operands(std::span<const Value> values) const {
  std::vector<std::string> names;
  for (const Value& value : values) names.push_back(operand(value));
  return joined(names);
}

std::string Printer::types(std::span<const Value> values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(type_text(value.shape()));
  return joined(texts);
}

std::string Printer::types(std::span<const Shape> shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes) texts.push_back(type_text(shape));
  return joined(texts);
}

void Printer::line(const std::string& text) {
  text_.append(static_cast<size_t>(indent_) * 2, ' ');
  text_ += text;
  text_ += '\n';
}

void Printer::alias(const Value& value, const std::string& name) {
  scopes_.back()[{&value.node(), value.index()}] = name;
}

std::string Printer::emit(const std::string& text) {
  std::string name = fmt::format("%{}", next_name_++);
  line(name + " = " + text);
  return name;
}

void Printer::define(const Node& node, const std::string& text) {
  const int count = node.output_count();
  const std::string name = fmt::format("%{}", next_name_++);
  for (int i = 0; i < count; ++i) {
    scopes_.back()[{&node, i}] = count == 1 ? name : fmt::format("{}#{}", name, i);
  }
  line((count == 1 ? name : fmt::format("{}:{}", name, count)) + " = " + text);
}

void Printer::define_simple(const Node& node, const std::string& attributes) {
  const auto& inputs = node.inputs();
  define(node, fmt::format("\"stablehlo.{}\"({}) {}: ({}) -> ({})", node.op().name,
                           operands(inputs), attributes.empty() ? "" : "{" + attributes + "} ",
                           types(inputs), types(node.shapes())));
}

void Printer::define_with_regions(const Node& node, const std::string& head,
                                  std::span<const Region> regions, const std::string& tail) {
  std::string outer;
  std::swap(outer, text_);
  std::string bodies;
  for (const Region& region : regions) {
    scopes_.emplace_back();
    std::vector<std::string> parameters;
    for (const Value& parameter : region.parameters) {
      const std::string name = fmt::format("%{}", next_name_++);
      alias(parameter, name);
      parameters.push_back(name + ": " + type_text(parameter.shape()));
    }
    ++indent_;
    body(region.results);
    line(fmt::format("stablehlo.return {} : {}", operands(region.results), types(region.results)));
    --indent_;
    scopes_.pop_back();
    const std::string indent(static_cast<size_t>(indent_) * 2, ' ');
    bodies += (bodies.empty() ? "" : ", ") +
              fmt::format("{{\n{}^bb0({}):\n{}{}}}", indent, joined(parameters), text_, indent);
    text_.clear();
  }
  std::swap(outer, text_);
  define(node, fmt::format("{} ({}) {}", head, bodies, tail));
}

void Printer::inline_body(const Node& node, const Region& region,
                          std::span<const Value> arguments) {
  std::vector<std::string> names;
  for (const Value& argument : arguments) names.push_back(operand(argument));
  scopes_.emplace_back();
  for (size_t i = 0; i < names.size(); ++i) alias(region.parameters[i], names[i]);
  body(region.results);
  std::vector<std::string> results;
  for (const Value& result : region.results) results.push_back(result ? operand(result) : "");
  scopes_.pop_back();
  for (size_t i = 0; i < results.size(); ++i) {
    if (region.results[i]) scopes_.back()[{&node, static_cast<int>(i)}] = results[i];
  }
}

void Printer::body(std::span<const Value> results) {
  const auto order = topological_order(results);
  auto& used = used_.emplace_back();
  for (const Value& result : results) {
    if (result) used.insert({&result.node(), result.index()});
  }
  for (const Node* node : order) {
    for (const Value& input : node->inputs()) used.insert({&input.node(), input.index()});
  }
  for (const Node* node : order) {
    if (!scopes_.back().contains({node, 0})) node->op().print(*this, *node);
  }
  used_.pop_back();
}

void Printer::function(const Function& function) {
  mesh_ = function.mesh;
  scopes_.emplace_back();
  std::vector<std::string> parameters;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Value& parameter = function.parameters[i];
    const std::string name = fmt::format("%arg{}", i);
    alias(parameter, name);
    std::string text = name + ": " + type_text(parameter.shape());
    const auto donation =
        std::ranges::find(function.donations, static_cast<int>(i), &Function::Donation::parameter);
    if (donation != function.donations.end()) {
      text += fmt::format(" {{tf.aliasing_output = {} : i32}}", donation->result);
    }
    parameters.push_back(text);
  }
  text_ += fmt::format("  func.func public @main({}) -> ({}) {{\n", joined(parameters),
                       types(function.results));
  indent_ = 2;
  body(function.results);
  line(fmt::format("return {} : {}", operands(function.results), types(function.results)));
  text_ += "  }\n";
  scopes_.pop_back();
}

std::string print_module(const Function& function, const Lowering& lowering) {
  verify(function);
  HUM_REQUIRE(function.mesh.size() == 1 || function.mesh.size() == lowering.replicas,
              "{}: made for {} devices, compiled for {}", function.name, function.mesh.size(),
              lowering.replicas);
  Printer printer(lowering);
  printer.function(function);
  return fmt::format(
      "module @{} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {} : i32}} "
      "{{\n{}}}\n",
      "hum", lowering.replicas, printer.take());
}

}  // namespace hum::graph
