// Op tests: one table of cases per family, joined in op_table_test.cpp (no registration).
//
// A case is a small graph with a reference in double. It runs on the real plugin in f32 and in bf16
// (all cases of a family in one module), values and gradients; gradients are compared with central
// differences of the reference. Each op also checks the exact text of its shape error and the
// placement of its result on a device mesh.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops.h"
#include "runtime/host_tensor.h"

namespace hum::graph::op_test {

// Dense, row-major, in double; integers and booleans are whole numbers.
struct Array {
  Dims dims;
  std::vector<double> data;

  double at(const Dims& index) const;
  int64_t size(int dim) const { return dims[static_cast<size_t>(dim)]; }
};
using Arrays = std::vector<Array>;

// An array whose element at each index is f(index).
Array make_array(Dims dims, const std::function<double(const Dims& index)>& f);
// Applies f to elements at equal indices, after numpy broadcasting.
Array map(const Array& a, const std::function<double(double)>& f);
Array map(const Array& a, const Array& b, const std::function<double(double, double)>& f);

runtime::HostTensor to_tensor(const Array& array, DType dtype);
Array to_array(const runtime::HostTensor& tensor);

// A random input: uniform in [low, high], whole numbers for integers, 0 or 1 for i1; or exactly
// `values`.
struct Input {
  Shape shape;
  double low = -2, high = 2;
  std::vector<double> values = {};
};
inline Input f32(Dims dims, double low = -2, double high = 2) {
  return {{DType::kF32, std::move(dims)}, low, high};
}
inline Input i32(Dims dims, double low = -9, double high = 9) {
  return {{DType::kI32, std::move(dims)}, low, high};
}

enum class Gradient {
  kChecked,    // compared with differences of the reference, for every float input
  kNone,       // no gradient: cotangents must be absent
  kUnchecked,  // not checked
};

// |got - wanted| <= bound * max(1, |wanted|); integers and booleans are exact.
struct Bounds {
  double value = 1e-5;
  double gradient = 5e-5;
  double bf16_value = 1.0 / 128;
  double bf16_gradient = 1.0 / 24;
};

struct Case {
  std::string name;
  // The row under test; empty for functions composed of other ops.
  std::string_view op;
  std::vector<Input> inputs;
  // In the bf16 run, f32 inputs are converted to bf16.
  std::function<Values(std::span<const Value> inputs)> build;
  std::function<Arrays(std::span<const Array> inputs)> reference;
  Gradient gradient = Gradient::kChecked;
  bool in_bf16 = true;
  Bounds bounds = {};
};

// Building must throw an Error whose message is exactly `message`.
struct ShapeErrorCase {
  std::string_view op;
  std::function<Value()> build;
  std::string_view message;
};

// The placement of the built value, or the error message, is exactly `result`.
struct PlacementCase {
  std::string_view op;
  std::function<Value()> build;
  std::string_view result;
};

// An op that accepts any input.
struct Exemption {
  std::string_view op;
  std::string_view reason;
};

struct Family {
  std::string_view name;
  std::vector<Case> cases;
  std::vector<ShapeErrorCase> shape_errors;
  std::vector<PlacementCase> placements = {};
  std::vector<Exemption> without_shape_error = {};
};

// Runs every case of the family on the plugin, with f32 inputs as `dtype`, and checks it.
void expect_matches_reference(const Family& family, DType dtype);

// For placement cases: parameters sharded on the tensor axis (and the data axis).
Value placed(Shape shape, AxisPlacement tensor, AxisPlacement data = kReplicated);

// All families (op_table_test.cpp).
const std::vector<Family>& families();

// The families. To add one, declare it here and list it in op_table_test.cpp.
Family structure_family();
Family constant_family();
Family unary_family();
Family binary_family();
Family reorder_family();
Family cut_and_join_family();
Family dot_family();
Family reduction_family();
Family reduction_composites_family();
Family indexing_family();
Family activation_family();
Family convolution_family();
Family spectral_family();
Family control_family();
Family placement_family();
Family sort_family();
Family custom_call_family();

}  // namespace hum::graph::op_test
