// Constants and iota.
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bf16.h"
#include "base/bytes.h"
#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

// One element as bytes of the dtype.
uint32_t element_bits(double number, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(number));
    case DType::kBF16:
      return to_bf16(static_cast<float>(number));
    case DType::kI32:
      return static_cast<uint32_t>(static_cast<int32_t>(number));
    case DType::kU32:
      return static_cast<uint32_t>(number);
    case DType::kU8:
      return static_cast<uint8_t>(number);
    case DType::kI1:
      return number != 0 ? 1 : 0;
  }
  return 0;
}

double element_number(const std::byte* bytes, DType dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(size_bytes(dtype)));
  switch (dtype) {
    case DType::kF32:
      return static_cast<double>(std::bit_cast<float>(bits));
    case DType::kBF16:
      return static_cast<double>(from_bf16(static_cast<uint16_t>(bits)));
    case DType::kI32:
      return static_cast<int32_t>(bits);
    default:
      return bits;
  }
}

// A single element as StableHLO text: exact bits for floats, digits for integers.
std::string element_text(const std::byte* bytes, DType dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(size_bytes(dtype)));
  switch (dtype) {
    case DType::kF32:
      return fmt::format("0x{:08X}", bits);
    case DType::kBF16:
      return fmt::format("0x{:04X}", bits);
    case DType::kI32:
      return fmt::format("{}", static_cast<int32_t>(bits));
    case DType::kI1:
      return bits != 0 ? "true" : "false";
    default:
      return fmt::format("{}", bits);
  }
}

Shapes infer_constant(const Node& node) {
  Shape shape{node.attributes().get<DType>("dtype"), node.attributes().get<Dims>("dims")};
  const auto& bytes = *node.attributes().get<Bytes>("value");
  const auto size = static_cast<int64_t>(bytes.size());
  HUM_REQUIRE(size == shape.bytes() || size == size_bytes(shape.dtype), "constant: {} bytes for {}",
              size, shape);
  return {shape};
}

std::string dense_text(const std::vector<std::byte>& bytes, const Shape& shape) {
  if (static_cast<int64_t>(bytes.size()) == size_bytes(shape.dtype)) {
    return element_text(bytes.data(), shape.dtype);
  }
  if (shape.dtype ==
      DType::kI1) {  // MLIR packs i1 bits in hex strings: write it as a flat list instead
    std::string list;
    for (const std::byte& byte : bytes) {
      list += (list.empty() ? "" : ", ") + element_text(&byte, shape.dtype);
    }
    return "[" + list + "]";
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return fmt::format("\"0x{}\"", to_upper_hex(text));
}

void print_constant(Printer& out, const Node& node) {
  const Shape& shape = node.shapes()[0];
  const auto& bytes = *node.attributes().get<Bytes>("value");
  const bool flat = shape.dtype == DType::kI1 && bytes.size() > 1 && shape.rank() != 1;
  const Shape printed = flat ? Shape{shape.dtype, {shape.elements()}} : shape;
  const std::string text = fmt::format("stablehlo.constant dense<{}> : {}",
                                       dense_text(bytes, printed), type_text(printed));
  if (!flat) return out.define(node, text);
  const std::string list = out.emit(text);
  out.define(node, fmt::format("stablehlo.reshape {} : ({}) -> {}", list, type_text(printed),
                               type_text(shape)));
}

Cost no_cost(const Node&) { return {}; }

Shapes infer_iota(const Node& node) {
  Shape shape{node.attributes().get<DType>("dtype"), node.attributes().get<Dims>("dims")};
  HUM_REQUIRE(shape.dtype != DType::kI1, "iota: needs numbers, not {}", shape);
  return {shape};
}

void print_iota(Printer& out, const Node& node) {
  out.define_simple(
      node, fmt::format("iota_dimension = {} : i64", node.attributes().get<int64_t>("dim")));
}

Value make_constant(std::vector<std::byte> bytes, const Shape& shape, std::source_location where) {
  return NodeBuilder{
      .op = kConstantOp,
      .attributes = {{"dtype", shape.dtype},
                     {"dims", shape.dims},
                     {"value", Bytes(std::make_shared<std::vector<std::byte>>(std::move(bytes)))}},
      .where = where}
      .value();
}

template <typename T>
Value constant_of(std::span<const T> elements, Dims dims, DType dtype, std::source_location where) {
  const auto bytes = std::as_bytes(elements);
  return make_constant({bytes.begin(), bytes.end()}, {dtype, std::move(dims)}, where);
}

}  // namespace

const OpDef kConstantOp = {"constant",
                           infer_constant,
                           place_replicated,
                           zero_gradient,
                           print_constant,
                           no_cost,
                           {.memory = MemoryClass::kGiven, .elementwise = false}};
const OpDef kIotaOp = {"iota",
                       infer_iota,
                       place_replicated,
                       zero_gradient,
                       print_iota,
                       elementwise_cost,
                       {.memory = MemoryClass::kCheap, .elementwise = false}};

Value constant(double number, Shape shape, std::source_location where) {
  const uint32_t bits = element_bits(number, shape.dtype);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(shape.dtype)));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return make_constant(std::move(bytes), shape, where);
}

Value constant(std::span<const double> elements, Shape shape, std::source_location where) {
  const auto width = static_cast<size_t>(size_bytes(shape.dtype));
  std::vector<std::byte> bytes(elements.size() * width);
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint32_t bits = element_bits(elements[i], shape.dtype);
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return make_constant(std::move(bytes), shape, where);
}

Value constant(std::span<const float> elements, Dims dims, std::source_location where) {
  return constant_of(elements, std::move(dims), DType::kF32, where);
}

Value constant(std::span<const int32_t> elements, Dims dims, std::source_location where) {
  return constant_of(elements, std::move(dims), DType::kI32, where);
}

bool is_all(const Value& value, double number) {
  const Node* node = &value.node();
  while (&node->op() == &kBroadcastInDimOp || &node->op() == &kReshapeOp) {
    node = &node->input(0).node();
  }
  if (&node->op() != &kConstantOp) return false;
  const auto& bytes = *node->attributes().get<Bytes>("value");
  const auto width = static_cast<size_t>(size_bytes(value.dtype()));
  for (size_t at = 0; at < bytes.size(); at += width) {
    if (element_number(bytes.data() + at, value.dtype()) != number) return false;
  }
  return true;
}

Value zeros_like(const Value& x) { return broadcast_to(constant(0, {x.dtype(), {}}), x.dims()); }
Value ones_like(const Value& x) { return broadcast_to(constant(1, {x.dtype(), {}}), x.dims()); }

Value iota(Shape shape, int dim, std::source_location where) {
  return NodeBuilder{.op = kIotaOp,
                     .attributes = {{"dtype", shape.dtype},
                                    {"dims", shape.dims},
                                    {"dim", static_cast<int64_t>(shape.resolve_dim(dim))}},
                     .where = where}
      .value();
}

}  // namespace hum::graph
