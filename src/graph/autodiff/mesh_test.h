// Tests a model on a mesh: parameters are declared with their full shapes, each device gets its
// part, and the devices' gradients are compared with those of the same model on one device, written
// without collectives.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/function.h"
#include "graph/placement.h"
#include "runtime/host_tensor.h"

namespace hum::graph::mesh_test {

inline Placement on_tensor(AxisPlacement placement) { return {.axes = {kReplicated, placement}}; }
inline Placement on_data(AxisPlacement placement) { return {.axes = {placement, kReplicated}}; }

// A parameter of the model: its full shape and its placement on the mesh.
struct Global {
  Shape shape;
  Placement placement = {};
  std::vector<float> values = {};
};
// Uniform in [-1, 1).
Global random_global(Dims dims, Placement placement, uint64_t stream);
// Integers below `limit`.
Global ids_global(Dims dims, Placement placement, int64_t limit);

// Builds a model from its parameters; collectives need the mesh and the replica id.
using Parallel =
    std::function<Value(std::span<const Value> in, const Mesh& mesh, const Value& replica_id)>;
using Plain = std::function<Value(std::span<const Value> in)>;
// What the user does to gradients until they are placed as their parameters.
using Finish = std::function<Values(Values gradients, const Mesh& mesh)>;

Values as_they_are(Values gradients, const Mesh& mesh);

// Loss and gradients of the float parameters on the mesh.
Function trace(const std::vector<Global>& globals, const Mesh& mesh, const Parallel& model,
               const Finish& finish);

// Per device: the loss, then its part of each gradient.
std::vector<std::vector<runtime::HostTensor>> run(const Function& traced,
                                                  const std::vector<Global>& globals);

// Full gradients of the float parameters.
std::vector<std::vector<float>> plain_gradients(const std::vector<Global>& globals,
                                                const Plain& model);

// Largest difference between the mesh's gradients and the single-device ones, over all devices.
double largest_difference(const std::vector<std::vector<runtime::HostTensor>>& got,
                          const std::vector<std::vector<float>>& wanted,
                          const std::vector<Global>& globals, const Mesh& mesh);

void expect_equal_gradients(const std::vector<Global>& globals, const Mesh& mesh,
                            const Parallel& model, const Plain& plain,
                            const Finish& finish = as_they_are);

}  // namespace hum::graph::mesh_test
