// Test helper: compiles a graph function and runs it once on the real plugin, in a session shared
// by the process.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/function.h"
#include "runtime/host_tensor.h"
#include "runtime/session.h"

namespace hum::runtime {

// The process's session with that many virtual devices and no disk cache; created on first use.
Session& test_session(int devices = 1);

std::vector<HostTensor> run_once(const graph::Function& function,
                                 std::span<const HostTensor> inputs);

// inputs[device][parameter] -> results[device][result], one replica per device.
std::vector<std::vector<HostTensor>> run_on_devices(
    const graph::Function& function, std::span<const std::vector<HostTensor>> inputs);

// run_once without writing a Function: `parameters` in the order of `inputs`.
std::vector<HostTensor> evaluate(const graph::Values& results, const graph::Values& parameters,
                                 std::span<const HostTensor> inputs);

// The arrays that tools/golden/hum_random.py generates for the same seed, name and index: uniform
// in centre +- half_width (f32), or in 0..size-1 (i32).
struct GoldenRange {
  double half_width = 1;
  double centre = 0;
};
HostTensor golden_tensor(uint64_t seed, std::string_view name, const graph::Dims& dims,
                         GoldenRange range, uint64_t index = 0);
HostTensor golden_integers(uint64_t seed, std::string_view name, const graph::Dims& dims,
                           uint32_t size, uint64_t index = 0);

}  // namespace hum::runtime
