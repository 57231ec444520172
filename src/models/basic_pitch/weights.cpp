#include "models/basic_pitch/weights.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"

namespace hum::models::basic_pitch {
namespace {

constexpr const char* kHint =
    "expected nmp.onnx of basic-pitch 0.4.0; `make fetch` downloads it and checks its SHA-256";

using Dims = std::vector<int64_t>;

[[noreturn]] void refuse(std::string what) {
  fail(ExitCode::kBadData, "basic pitch weights: " + std::move(what), kHint);
}

Dims dims_of(const onnx::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

// The elements of a float tensor from either of ONNX's two fields.
std::vector<float> floats_of(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT) {
    refuse(fmt::format("tensor '{}' is not of type float", tensor.name()));
  }
  size_t count = 1;
  for (int64_t size : tensor.dims()) count *= static_cast<size_t>(std::max<int64_t>(size, 0));
  std::vector<float> values(tensor.float_data().begin(), tensor.float_data().end());
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() % sizeof(float) != 0) {
      refuse(fmt::format("tensor '{}' ends inside a number", tensor.name()));
    }
    values.resize(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
  }
  if (values.size() != count) {
    refuse(fmt::format("tensor '{}' holds {} numbers instead of {}", tensor.name(), values.size(),
                       count));
  }
  if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) {
    refuse(fmt::format("tensor '{}' holds numbers that are not finite", tensor.name()));
  }
  return values;
}

// The file's graph: nodes in order, constants by name, and the readers of each value.
class OnnxGraph {
 public:
  explicit OnnxGraph(const std::string& bytes) {
    if (!model_.ParseFromString(bytes)) refuse("the file is truncated or not an ONNX model");
    if (!model_.has_graph() || model_.graph().node_size() == 0) refuse("the file holds no graph");
    for (const auto& node : model_.graph().node()) {
      if (node.output_size() == 0) refuse(fmt::format("node '{}' has no output", node.name()));
    }
    for (const auto& tensor : model_.graph().initializer()) constants_[tensor.name()] = &tensor;
  }

  const onnx::TensorProto* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }

  // The input of `node` that is a constant of these dims, or null.
  const onnx::TensorProto* constant_input(const onnx::NodeProto& node, const Dims& dims) const {
    for (const auto& name : node.input()) {
      const auto* tensor = constant(name);
      if (tensor != nullptr && dims_of(*tensor) == dims) return tensor;
    }
    return nullptr;
  }

  std::vector<const onnx::NodeProto*> nodes(const std::string& op) const {
    std::vector<const onnx::NodeProto*> found;
    for (const auto& node : model_.graph().node()) {
      if (node.op_type() == op) found.push_back(&node);
    }
    return found;
  }

  bool is_read_by(const std::string& value, const std::string& op) const {
    return std::ranges::any_of(nodes(op), [&](const onnx::NodeProto* node) {
      return std::ranges::find(node->input(), value) != node->input().end();
    });
  }

 private:
  onnx::ModelProto model_;
  std::map<std::string, const onnx::TensorProto*> constants_;
};

Dims int_attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  }
  return {};
}

// The single kernel that all matching convolutions of this shape use.
std::vector<float> find_kernel(const OnnxGraph& graph, const std::string& what, const Dims& dims,
                               const std::function<bool(const onnx::NodeProto&)>& matches) {
  const onnx::TensorProto* kernel = nullptr;
  for (const auto* node : graph.nodes("Conv")) {
    const auto* candidate = graph.constant_input(*node, dims);
    if (candidate == nullptr || !matches(*node)) continue;
    if (kernel != nullptr && kernel != candidate) refuse("there is more than one " + what);
    kernel = candidate;
  }
  if (kernel == nullptr) refuse("there is no " + what);
  return floats_of(*kernel);
}

// The convolution with this kernel shape, frequency stride and padding {time, freq, time, freq}.
ConvWeights find_conv(const OnnxGraph& graph, const std::string& what, const Dims& dims,
                      int64_t freq_stride, const Dims& pads) {
  const onnx::NodeProto* conv = nullptr;
  for (const auto* node : graph.nodes("Conv")) {
    if (graph.constant_input(*node, dims) == nullptr) continue;
    if (conv != nullptr) refuse(fmt::format("there is more than one {} convolution", what));
    conv = node;
  }
  if (conv == nullptr) {
    refuse(fmt::format("there is no {} convolution of shape [{}]", what, fmt::join(dims, ",")));
  }
  if (int_attribute(*conv, "strides") != Dims{1, freq_stride} ||
      int_attribute(*conv, "pads") != pads) {
    refuse(fmt::format("the {} convolution has other strides or padding", what));
  }
  const auto* bias = graph.constant_input(*conv, {dims[0]});
  if (bias == nullptr) refuse(fmt::format("the {} convolution has no bias", what));
  return {.outputs = dims[0],
          .inputs = dims[1],
          .times = dims[2],
          .freqs = dims[3],
          .kernel = floats_of(*graph.constant_input(*conv, dims)),
          .bias = floats_of(*bias)};
}

std::vector<float> find_cqt_scale(const OnnxGraph& graph) {
  for (const auto* node : graph.nodes("Mul")) {
    const auto* scale = graph.constant_input(*node, {kCqtBins, 1, 1});
    if (scale != nullptr) return floats_of(*scale);
  }
  refuse("there is no scale of the constant-Q bins");
}

// The folded batch norm of the spectrum: a product with one number, then a sum with another.
void find_input_norm(const OnnxGraph& graph, Weights& weights) {
  for (const auto* product : graph.nodes("Mul")) {
    const auto* scale = graph.constant_input(*product, {1});
    if (scale == nullptr) continue;
    for (const auto* sum : graph.nodes("Add")) {
      const auto* offset = graph.constant_input(*sum, {1});
      const bool follows =
          std::ranges::find(sum->input(), product->output(0)) != sum->input().end();
      if (offset == nullptr || !follows) continue;
      weights.input_scale = floats_of(*scale)[0];
      weights.input_offset = floats_of(*offset)[0];
      return;
    }
  }
  refuse("there is no batch norm of the spectrum");
}

}  // namespace

int64_t Weights::parameter_count() const {
  size_t count = 2;
  for (const auto* conv : {&contour_hidden, &contour, &note_hidden, &note, &onset_hidden, &onset}) {
    count += conv->kernel.size() + conv->bias.size();
  }
  return static_cast<int64_t>(count);
}

std::filesystem::path default_weights_path() {
  return in_wheels("basic_pitch/basic_pitch/saved_models/icassp_2022/nmp.onnx");
}

Weights read_weights(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  if (!std::filesystem::exists(path)) {
    fail(ExitCode::kNoInput, "basic pitch weights: no such file", kHint);
  }
  const OnnxGraph graph(read_file(path));
  const auto is_imaginary = [&](const onnx::NodeProto& conv) {
    return graph.is_read_by(conv.output(0), "Neg");
  };
  const Dims cqt_dims = {kBinsPerOctave, 1, 1, kKernelSamples};

  Weights weights;
  weights.cqt_real = find_kernel(graph, "real constant-Q kernel", cqt_dims,
                                 [&](const auto& conv) { return !is_imaginary(conv); });
  weights.cqt_imag = find_kernel(graph, "imaginary constant-Q kernel", cqt_dims, is_imaginary);
  weights.lowpass =
      find_kernel(graph, "half-band filter", {1, 1, 1, kKernelSamples}, [](const auto& conv) {
        return int_attribute(conv, "strides") == Dims{1, 2};
      });
  weights.cqt_scale = find_cqt_scale(graph);
  find_input_norm(graph, weights);
  weights.contour_hidden =
      find_conv(graph, "contour hidden", {8, kHarmonics, 3, 39}, 1, {1, 19, 1, 19});
  weights.contour = find_conv(graph, "contour", {1, 8, 5, 5}, 1, {2, 2, 2, 2});
  weights.note_hidden = find_conv(graph, "note hidden", {32, 1, 7, 7}, 3, {3, 2, 3, 2});
  weights.note = find_conv(graph, "note", {1, 32, 7, 3}, 1, {3, 1, 3, 1});
  weights.onset_hidden = find_conv(graph, "onset hidden", {32, kHarmonics, 5, 5}, 3, {2, 1, 2, 1});
  weights.onset = find_conv(graph, "onset", {1, 33, 3, 3}, 1, {1, 1, 1, 1});
  return weights;
}

}  // namespace hum::models::basic_pitch
