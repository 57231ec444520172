#include "runtime/testing.h"

#include <map>
#include <memory>
#include <mutex>

#include "base/rng.h"

namespace hum::runtime {

Session& test_session(int devices) {
  // Never destroyed: the plugin's threads may outlive main.
  static auto& mutex = *new std::mutex;
  static auto& sessions = *new std::map<int, std::unique_ptr<Session>>;
  const std::lock_guard lock(mutex);
  auto& session = sessions[devices];
  if (!session) session = std::make_unique<Session>(SessionOptions{.devices = devices});
  return *session;
}

std::vector<HostTensor> run_once(const graph::Function& function,
                                 std::span<const HostTensor> inputs) {
  return test_session().compile(function.name, function).run(inputs);
}

std::vector<std::vector<HostTensor>> run_on_devices(
    const graph::Function& function, std::span<const std::vector<HostTensor>> inputs) {
  const auto count = static_cast<int>(inputs.size());
  CompileOptions options;
  options.devices.clear();
  for (int device = 0; device < count; ++device) options.devices.push_back(device);
  return test_session(count).compile(function.name, function, options).run_replicas(inputs);
}

std::vector<HostTensor> evaluate(const graph::Values& results, const graph::Values& parameters,
                                 std::span<const HostTensor> inputs) {
  return run_once({.name = "test", .parameters = parameters, .results = results}, inputs);
}

HostTensor golden_tensor(uint64_t seed, std::string_view name, const graph::Dims& dims,
                         GoldenRange range, uint64_t index) {
  HostTensor result({graph::DType::kF32, dims});
  Rng rng(seed, name, index);
  for (float& value : result.as<float>()) {
    value = static_cast<float>(range.centre + range.half_width * (2 * rng.uniform() - 1));
  }
  return result;
}

HostTensor golden_integers(uint64_t seed, std::string_view name, const graph::Dims& dims,
                           uint32_t size, uint64_t index) {
  HostTensor result({graph::DType::kI32, dims});
  Rng rng(seed, name, index);
  for (int32_t& value : result.as<int32_t>()) value = static_cast<int32_t>(rng.bits() % size);
  return result;
}

}  // namespace hum::runtime
