// The convolution row: shapes, placements, text. Its gradient is in convolution_gradient.cpp, the
// 1-d and 2-d forms in convolution_forms.cpp.
#include "graph/ops/convolution.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/convolution_impl.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

Dims spatial_sizes(const Value& x, const std::string& layout, int spatial) {
  Dims sizes;
  for (int d = 0; d < spatial; ++d) {
    sizes.push_back(size_of(x, layout, static_cast<char>('0' + d)));
  }
  return sizes;
}

// The layout must contain each of two letters and every digit once.
void require_layout(const std::string& layout, const char* letters, const Value& x) {
  std::string wanted = letters, sorted = layout;
  for (size_t d = 0; d + 2 < layout.size(); ++d) wanted += static_cast<char>('0' + d);
  std::ranges::sort(wanted);
  std::ranges::sort(sorted);
  HUM_REQUIRE(sorted == wanted, "convolution: layout '{}' is not made of {} and the spatial digits",
              layout, letters);
  HUM_REQUIRE(static_cast<int>(layout.size()) == x.rank(), "convolution: layout '{}' for {}",
              layout, x.shape());
}

void require_features_fit(const Node& node, const ConvolutionOptions& o) {
  const Value &x = node.input(0), &kernel = node.input(1);
  const int64_t features = size_of(x, o.layout.input, 'f'),
                inputs = size_of(kernel, o.layout.kernel, 'i'),
                outputs = size_of(kernel, o.layout.kernel, 'o'),
                batch = size_of(x, o.layout.input, 'b');
  HUM_REQUIRE(o.feature_groups >= 1 && o.batch_groups >= 1 &&
                  (o.feature_groups == 1 || o.batch_groups == 1),
              "convolution: {} feature groups and {} batch groups", o.feature_groups,
              o.batch_groups);
  HUM_REQUIRE(features == inputs * o.feature_groups,
              "convolution: input {} has {} features, kernel {} takes {} in {} groups", x.shape(),
              features, kernel.shape(), inputs, o.feature_groups);
  HUM_REQUIRE(outputs % o.feature_groups == 0 && outputs % o.batch_groups == 0 &&
                  batch % o.batch_groups == 0,
              "convolution: {} output features of {} and batch {} do not split into {} groups",
              outputs, kernel.shape(), batch, std::max(o.feature_groups, o.batch_groups));
}

Shapes infer_convolution(const Node& node) {
  const Value &x = node.input(0), &kernel = node.input(1);
  HUM_REQUIRE(x.dtype() == kernel.dtype() && is_float(x.dtype()),
              "convolution: needs f32 or bf16 on both sides, not {} and {}", x.shape(),
              kernel.shape());
  const ConvolutionOptions options = convolution_options(node);
  require_layout(options.layout.input, "bf", x);
  require_layout(options.layout.kernel, "io", kernel);
  require_layout(options.layout.result, "bf", x);
  require_features_fit(node, options);
  const ConvolutionNumbers n = convolution_numbers(node);
  Shape result{x.dtype(), Dims(x.dims().size())};
  const auto at = [&](char letter) -> int64_t& {
    return result.dims[static_cast<size_t>(place_of(options.layout.result, letter))];
  };
  at('b') = size_of(x, options.layout.input, 'b') / options.batch_groups;
  at('f') = size_of(kernel, options.layout.kernel, 'o');
  for (size_t d = 0; d < static_cast<size_t>(n.spatial); ++d) {
    HUM_REQUIRE(options.strides[d] >= 1 && options.input_dilation[d] >= 1 &&
                    options.kernel_dilation[d] >= 1,
                "convolution: strides and dilations are at least 1");
    const int64_t padded = n.dilated_input(d) + options.padding_low[d] + options.padding_high[d];
    HUM_REQUIRE(padded >= n.dilated_kernel(d),
                "convolution: input {} is {} long in spatial dim {} with padding, kernel {} needs "
                "{}",
                x.shape(), padded, d, kernel.shape(), n.dilated_kernel(d));
    at(static_cast<char>('0' + d)) = (padded - n.dilated_kernel(d)) / options.strides[d] + 1;
  }
  return {result};
}

// The result's placement on one mesh axis, or nothing if the two sides are incompatible.
std::optional<AxisPlacement> place_axis(const ConvolutionOptions& o, const AxisPlacement& x,
                                        const AxisPlacement& kernel) {
  const auto is_cut = [](const AxisPlacement& axis, const std::string& layout, char letter) {
    return axis.kind == PlacementKind::kSharded && axis.dim == place_of(layout, letter);
  };
  const bool grouped = o.feature_groups > 1 || o.batch_groups > 1;
  if (x == kReplicated && kernel == kReplicated) return kReplicated;
  if (x == kPartial && kernel == kReplicated) return kPartial;
  if (x == kReplicated && kernel == kPartial) return kPartial;
  if (is_cut(x, o.layout.input, 'b') && kernel == kReplicated && o.batch_groups == 1) {
    return sharded(place_of(o.layout.result, 'b'));
  }
  if (grouped) return {};
  if (x == kReplicated && is_cut(kernel, o.layout.kernel, 'o')) {
    return sharded(place_of(o.layout.result, 'f'));
  }
  if (is_cut(x, o.layout.input, 'f') && is_cut(kernel, o.layout.kernel, 'i')) return kPartial;
  return {};
}

std::vector<Placement> place_convolution(const Node& node) {
  const ConvolutionOptions options = convolution_options(node);
  const Value &x = node.input(0), &kernel = node.input(1);
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    const auto placed =
        place_axis(options, x.placement().axes[axis], kernel.placement().axes[axis]);
    HUM_REQUIRE(placed.has_value(),
                "convolution: {} placed {} and kernel {} placed {} are incompatible", x.shape(),
                x.placement(), kernel.shape(), kernel.placement());
    placement.axes[axis] = *placed;
  }
  return {placement};
}

// "[b, 0, f]"
std::string layout_text(const std::string& layout) {
  return fmt::format("[{}]", fmt::join(layout.begin(), layout.end(), ", "));
}

// bf16 is summed in f32 and rounded once at the end.
void print_convolution(Printer& out, const Node& node) {
  const ConvolutionOptions o = convolution_options(node);
  std::string padding, reversal;
  for (size_t d = 0; d < o.strides.size(); ++d) {
    padding += fmt::format("{}[{}, {}]", d == 0 ? "" : ", ", o.padding_low[d], o.padding_high[d]);
    reversal += d == 0 ? "false" : ", false";
  }
  const Shape& result = node.shapes()[0];
  const Shape wide{DType::kF32, result.dims};
  const char* precision = result.dtype == DType::kF32 ? "HIGHEST" : "DEFAULT";
  const std::string text = fmt::format(
      "\"stablehlo.convolution\"({}) {{window_strides = {}, padding = dense<[{}]> : "
      "tensor<{}x2xi64>, lhs_dilation = {}, rhs_dilation = {}, window_reversal = array<i1: {}>, "
      "dimension_numbers = #stablehlo.conv<{}x{}->{}>, feature_group_count = {} : i64, "
      "batch_group_count = {} : i64, precision_config = [#stablehlo<precision {}>, "
      "#stablehlo<precision {}>]}} : ({}) -> {}",
      out.operands(node.inputs()), array_text(o.strides), padding, o.strides.size(),
      array_text(o.input_dilation), array_text(o.kernel_dilation), reversal,
      layout_text(o.layout.input), layout_text(o.layout.kernel), layout_text(o.layout.result),
      o.feature_groups, o.batch_groups, precision, precision, Printer::types(node.inputs()),
      type_text(wide));
  if (result.dtype == DType::kF32) return out.define(node, text);
  const std::string sums = out.emit(text);
  out.define(node, fmt::format("stablehlo.convert {} : ({}) -> {}", sums, type_text(wide),
                               type_text(result)));
}

// Products with inserted zeros are counted too.
Cost convolution_cost(const Node& node) {
  const ConvolutionOptions o = convolution_options(node);
  const Value& kernel = node.input(1);
  const auto per_result = static_cast<double>(kernel.shape().elements()) /
                          static_cast<double>(size_of(kernel, o.layout.kernel, 'o'));
  return {2 * per_result * static_cast<double>(node.shapes()[0].elements()), bytes_touched(node)};
}

}  // namespace

int64_t ConvolutionNumbers::dilated_input(size_t d) const {
  return dilated(input[d], options.input_dilation[d]);
}
int64_t ConvolutionNumbers::dilated_kernel(size_t d) const {
  return dilated(kernel[d], options.kernel_dilation[d]);
}

int place_of(const std::string& layout, char letter) {
  return static_cast<int>(layout.find(letter));
}

int64_t size_of(const Value& x, const std::string& layout, char letter) {
  return x.size(place_of(layout, letter));
}

ConvolutionOptions convolution_options(const Node& node) {
  const Attributes& a = node.attributes();
  return {.strides = a.get<Dims>("strides"),
          .padding_low = a.get<Dims>("padding_low"),
          .padding_high = a.get<Dims>("padding_high"),
          .input_dilation = a.get<Dims>("input_dilation"),
          .kernel_dilation = a.get<Dims>("kernel_dilation"),
          .feature_groups = a.get<int64_t>("feature_groups"),
          .batch_groups = a.get<int64_t>("batch_groups"),
          .layout = {a.get<std::string>("input_layout"), a.get<std::string>("kernel_layout"),
                     a.get<std::string>("result_layout")}};
}

ConvolutionNumbers convolution_numbers(const Node& node) {
  ConvolutionNumbers n{.options = convolution_options(node)};
  n.spatial = static_cast<int>(n.options.strides.size());
  n.input = spatial_sizes(node.input(0), n.options.layout.input, n.spatial);
  n.kernel = spatial_sizes(node.input(1), n.options.layout.kernel, n.spatial);
  if (!node.shapes().empty()) {
    n.result = spatial_sizes(node.output(), n.options.layout.result, n.spatial);
  }
  return n;
}

const OpDef kConvolutionOp = {"convolution",
                              infer_convolution,
                              place_convolution,
                              convolution_vjp,
                              print_convolution,
                              convolution_cost,
                              {.memory = MemoryClass::kProduct, .elementwise = false}};

Value convolution(const Value& x, const Value& kernel, ConvolutionOptions options,
                  std::source_location where) {
  const size_t spatial = options.layout.input.size() - 2;
  const auto filled = [&](Dims& list, int64_t value) {
    if (list.empty()) list.assign(spatial, value);
    HUM_REQUIRE(list.size() == spatial, "convolution: [{}] for {} spatial dims",
                fmt::join(list, ","), spatial);
    return std::move(list);
  };
  return NodeBuilder{.op = kConvolutionOp,
                     .inputs = {x, kernel},
                     .attributes = {{"strides", filled(options.strides, 1)},
                                    {"padding_low", filled(options.padding_low, 0)},
                                    {"padding_high", filled(options.padding_high, 0)},
                                    {"input_dilation", filled(options.input_dilation, 1)},
                                    {"kernel_dilation", filled(options.kernel_dilation, 1)},
                                    {"feature_groups", options.feature_groups},
                                    {"batch_groups", options.batch_groups},
                                    {"input_layout", options.layout.input},
                                    {"kernel_layout", options.layout.kernel},
                                    {"result_layout", options.layout.result}},
                     .where = where}
      .value();
}

}  // namespace hum::graph
