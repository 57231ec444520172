#include "runtime/executable.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "monitor/spans.h"
#include "runtime/program_impl.h"
#include "runtime/transfer.h"

namespace hum::runtime {
namespace {

using Arguments = pjrt::LoadedExecutable::Arguments;
using Run = pjrt::LoadedExecutable::Run;

void check_arguments(const Program& program, std::span<const Tensor> arguments) {
  const auto& parameters = program.parameters;
  HUM_REQUIRE(arguments.size() == parameters.size(), "{}: {} arguments for {} parameters",
              program.name, arguments.size(), parameters.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    HUM_REQUIRE(arguments[i], "{}: argument {} ({}) is empty", program.name, i, parameters[i].name);
    HUM_REQUIRE(arguments[i].shape() == parameters[i].shape,
                "{}: argument {} ({}) must be {}, got {}", program.name, i, parameters[i].name,
                parameters[i].shape, arguments[i].shape());
    HUM_REQUIRE(!arguments[i].is_deleted(),
                "{}: argument {} ({}) was deleted: it was donated to an earlier run", program.name,
                i, parameters[i].name);
  }
}

Run run_and_wait(const pjrt::LoadedExecutable& loaded, const Arguments& arguments,
                 std::span<const int64_t> keep = {}) {
  Run run = loaded.execute(arguments, keep);
  run.await();
  return run;
}

void delete_donated(const Program& program, std::span<const std::vector<Tensor>> tensors) {
  for (const auto& list : tensors) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (program.parameters[i].donated) list[i].buffer().delete_now();
    }
  }
}

// The first run of a program from disk. Its arguments are kept, so that a freshly compiled program
// can repeat the run if the entry does not run on this machine.
Run run_on_probation(Program& program, std::span<const std::vector<Tensor>> tensors,
                     const Arguments& arguments) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < program.parameters.size(); ++i) all.push_back(static_cast<int64_t>(i));
  Run run;
  try {
    run = run_and_wait(*program.loaded, arguments, all);
  } catch (const Error& error) {
    spdlog::warn("{}: the cached program does not run here, recompiling: {}", program.name,
                 error.message());
    program.loaded = program.probation->compile_anew();
    program.probation.reset();
    return run_and_wait(*program.loaded, arguments);
  }
  program.probation->passed(program.loaded);
  program.probation.reset();
  delete_donated(program, tensors);
  return run;
}

Run run_program(Program& program, std::span<const std::vector<Tensor>> tensors) {
  Arguments arguments(tensors.size());
  for (size_t d = 0; d < tensors.size(); ++d) {
    check_arguments(program, tensors[d]);
    for (const Tensor& tensor : tensors[d]) arguments[d].push_back(&tensor.buffer());
  }
  std::unique_lock lock(program.mutex);
  if (program.probation) return run_on_probation(program, tensors, arguments);
  const auto loaded = program.loaded;
  lock.unlock();
  return run_and_wait(*loaded, arguments);
}

// Under HUM_CHECK_NANS: throws if a result is not finite, naming the first non-finite value.
void check_finite(const Program& program, std::span<pjrt::Buffer> outputs) {
  if (program.checks.flags.empty()) return;
  const graph::Shape shape{graph::DType::kI1, {static_cast<int64_t>(program.checks.flags.size())}};
  const HostTensor flags =
      download(Tensor(shape, std::make_shared<pjrt::Buffer>(std::move(outputs.back()))));
  const auto finite = flags.bytes();
  const auto failed = [&](size_t flag) { return finite[flag] == std::byte{0}; };
  if (std::ranges::none_of(program.checks.results, failed)) return;
  size_t first = 0;
  while (!failed(first)) ++first;
  fail(ExitCode::kFailure,
       fmt::format("{}: a value is not finite: {}", program.name, program.checks.flags[first]),
       "all earlier values in the program are finite");
}

}  // namespace

const std::string& Executable::name() const { return program_->name; }
const std::vector<Executable::Parameter>& Executable::parameters() const {
  return program_->parameters;
}
const std::vector<graph::Shape>& Executable::results() const { return program_->results; }
int Executable::replicas() const { return static_cast<int>(program_->devices.size()); }

std::vector<std::vector<Tensor>> Executable::run_replicas(
    std::span<const std::vector<Tensor>> arguments) const {
  HUM_REQUIRE(static_cast<int>(arguments.size()) == replicas(),
              "{}: arguments for {} replicas, compiled for {}", name(), arguments.size(),
              replicas());
  const ErrorContext context([&] { return "running " + name(); });
  const monitor::Timed timed(monitor::SpanKind::kProgram, name());
  Run run = run_program(*program_, arguments);
  std::vector<std::vector<Tensor>> results(arguments.size());
  for (size_t d = 0; d < results.size(); ++d) {
    check_finite(*program_, run.outputs[d]);
    for (size_t i = 0; i < program_->results.size(); ++i) {
      results[d].emplace_back(program_->results[i],
                              std::make_shared<pjrt::Buffer>(std::move(run.outputs[d][i])));
    }
  }
  return results;
}

std::vector<std::vector<HostTensor>> Executable::run_replicas(
    std::span<const std::vector<HostTensor>> arguments) const {
  std::vector<std::vector<Tensor>> tensors;
  for (const auto& list : arguments) {
    const int device = program_->devices[tensors.size() % program_->devices.size()];
    auto& uploaded = tensors.emplace_back();
    for (const HostTensor& tensor : list) {
      uploaded.push_back(upload(program_->client, device, tensor));
    }
  }
  std::vector<std::vector<HostTensor>> results;
  for (const auto& list : run_replicas(tensors)) {
    auto& downloaded = results.emplace_back();
    for (const Tensor& tensor : list) downloaded.push_back(download(tensor));
  }
  return results;
}

std::vector<Tensor> Executable::run(std::span<const Tensor> arguments) const {
  const std::vector<std::vector<Tensor>> one(1, {arguments.begin(), arguments.end()});
  return run_replicas(one)[0];
}

std::vector<HostTensor> Executable::run(std::span<const HostTensor> arguments) const {
  const std::vector<std::vector<HostTensor>> one(1, {arguments.begin(), arguments.end()});
  return run_replicas(one)[0];
}

std::optional<pjrt::Executable::MemoryStats> Executable::memory_stats() const {
  const std::lock_guard lock(program_->mutex);
  return program_->loaded->executable().memory_stats();
}

}  // namespace hum::runtime
