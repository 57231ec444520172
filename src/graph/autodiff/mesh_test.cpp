#include "graph/autodiff/mesh_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::graph::mesh_test {

using runtime::HostTensor;

namespace {

constexpr Axis kData = Axis::kData, kTensor = Axis::kTensor;

int position(int replica, Axis axis, const Mesh& mesh) {
  return axis == kTensor ? replica % mesh.tensor : replica / mesh.tensor;
}

Shape local_shape(const Global& global, const Mesh& mesh) {
  Shape shape = global.shape;
  for (const Axis axis : {kData, kTensor}) {
    const AxisPlacement& placement = global.placement[axis];
    if (placement.kind == PlacementKind::kSharded) {
      shape.dims[static_cast<size_t>(placement.dim)] /= mesh.size(axis);
    }
  }
  return shape;
}

// For each element of the replica's part, its place in the whole.
std::vector<size_t> places(const Global& global, int replica, const Mesh& mesh) {
  const Shape local = local_shape(global, mesh);
  std::vector<size_t> result;
  for (int64_t i = 0; i < local.elements(); ++i) {
    int64_t left = i, at = 0, stride = 1;
    for (int d = local.rank() - 1; d >= 0; --d) {
      int64_t index = left % local.size(d);
      left /= local.size(d);
      for (const Axis axis : {kData, kTensor}) {
        if (global.placement[axis] == sharded(d)) {
          index += position(replica, axis, mesh) * local.size(d);
        }
      }
      at += index * stride;
      stride *= global.shape.size(d);
    }
    result.push_back(static_cast<size_t>(at));
  }
  return result;
}

HostTensor part_of(const Global& global, int replica, const Mesh& mesh) {
  std::vector<float> values;
  for (const size_t at : places(global, replica, mesh)) values.push_back(global.values[at]);
  return HostTensor::from_floats(global.shape.dtype, local_shape(global, mesh).dims, values);
}

}  // namespace

Global random_global(Dims dims, Placement placement, uint64_t stream) {
  Global global{{DType::kF32, std::move(dims)}, placement};
  Rng rng(3, "parallel", stream);
  for (int64_t i = 0; i < global.shape.elements(); ++i) {
    global.values.push_back(static_cast<float>(rng.uniform(-1, 1)));
  }
  return global;
}

Global ids_global(Dims dims, Placement placement, int64_t limit) {
  Global global{{DType::kI32, std::move(dims)}, placement};
  Rng rng(3, "parallel", 99);
  for (int64_t i = 0; i < global.shape.elements(); ++i) {
    global.values.push_back(static_cast<float>(rng.integer(0, limit - 1)));
  }
  return global;
}

Values as_they_are(Values gradients, const Mesh&) { return gradients; }

Function trace(const std::vector<Global>& globals, const Mesh& mesh, const Parallel& model,
               const Finish& finish) {
  Values parameters, wanted;
  for (const Global& global : globals) {
    parameters.push_back(parameter("p", local_shape(global, mesh), global.placement));
    if (is_float(global.shape.dtype)) wanted.push_back(parameters.back());
  }
  const Value replica = parameter("replica", {DType::kI32, {}});
  const Value loss = model(parameters, mesh, replica);
  Values results = {loss};
  const Values found = finish(gradients(loss, wanted), mesh);
  for (size_t i = 0; i < found.size(); ++i) {
    require_same_placement(found[i], wanted[i]);
    results.push_back(found[i]);
  }
  parameters.push_back(replica);
  return {.parameters = parameters, .results = results, .mesh = mesh};
}

std::vector<std::vector<HostTensor>> run(const Function& traced,
                                         const std::vector<Global>& globals) {
  const Mesh& mesh = traced.mesh;
  std::vector<std::vector<HostTensor>> inputs;
  for (int r = 0; r < mesh.size(); ++r) {
    auto& own = inputs.emplace_back();
    for (const Global& global : globals) own.push_back(part_of(global, r, mesh));
    own.push_back(HostTensor::scalar<int32_t>(r));
  }
  return runtime::run_on_devices(traced, inputs);
}

std::vector<std::vector<float>> plain_gradients(const std::vector<Global>& globals,
                                                const Plain& model) {
  Values parameters, wanted;
  std::vector<HostTensor> inputs;
  for (const Global& global : globals) {
    parameters.push_back(parameter("p", global.shape));
    inputs.push_back(HostTensor::from_floats(global.shape.dtype, global.shape.dims, global.values));
    if (is_float(global.shape.dtype)) wanted.push_back(parameters.back());
  }
  std::vector<std::vector<float>> results;
  for (const auto& tensor :
       runtime::evaluate(gradients(model(parameters), wanted), parameters, inputs)) {
    results.push_back(tensor.to_floats());
  }
  return results;
}

double largest_difference(const std::vector<std::vector<HostTensor>>& got,
                          const std::vector<std::vector<float>>& wanted,
                          const std::vector<Global>& globals, const Mesh& mesh) {
  double largest = 0;
  for (int r = 0; r < mesh.size(); ++r) {
    size_t gradient = 0;
    for (const Global& global : globals) {
      if (!is_float(global.shape.dtype)) continue;
      const auto own = got[static_cast<size_t>(r)][gradient + 1].to_floats();
      const auto at = places(global, r, mesh);
      EXPECT_EQ(own.size(), at.size());
      for (size_t i = 0; i < at.size(); ++i) {
        largest = std::max(largest, std::abs(double{own[i]} - wanted[gradient][at[i]]));
      }
      ++gradient;
    }
  }
  return largest;
}

void expect_equal_gradients(const std::vector<Global>& globals, const Mesh& mesh,
                            const Parallel& model, const Plain& plain, const Finish& finish) {
  const Function traced = trace(globals, mesh, model, finish);
  const auto wanted = plain_gradients(globals, plain);
  EXPECT_LT(largest_difference(run(traced, globals), wanted, globals, mesh), 2e-5);
}

}  // namespace hum::graph::mesh_test
