#include <chrono>

#include "base/env.h"
#include "base/error.h"
#include "base/log.h"
#include "monitor/spans.h"
#include "runtime/compiler_impl.h"

namespace hum::runtime {
namespace {

// In-process collectives abort the process if a replica waits this long for the others.
constexpr int64_t kCollectiveTimeoutSeconds = 600;
constexpr const char* kSchedulerOption = "xla_cpu_scheduler_type";

// Older CPU plugins have only one scheduler; the option is then dropped, with a warning.
pjrt::LoadedExecutable compile_text(const std::shared_ptr<const pjrt::Client>& client,
                                    const std::string& text, pjrt::CompileOptions options) {
  try {
    return pjrt::LoadedExecutable::compile(client, text, options);
  } catch (const Error& error) {
    const auto unknown = fmt::format("No such compile option: '{}'", kSchedulerOption);
    if (error.message().find(unknown) == std::string::npos) throw;
  }
  warn_once(kSchedulerOption, "this plugin cannot schedule for minimum memory");
  options.overrides.erase(kSchedulerOption);
  return pjrt::LoadedExecutable::compile(client, text, options);
}

}  // namespace

pjrt::CompileOptions pjrt_options(const CompileOptions& options, const std::string& platform) {
  pjrt::CompileOptions result{options.devices, options.overrides};
  // Otherwise XLA drops conversions to bf16 and back on a GPU, and a program rounds elsewhere
  // there.
  if (platform == "cuda") result.overrides.emplace("xla_allow_excess_precision", false);
  if (platform != "cpu") return result;
  if (options.optimize_memory) {
    result.overrides.emplace(kSchedulerOption, std::string("CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"));
  }
  if (options.devices.size() > 1) {
    result.overrides.emplace("xla_cpu_collective_call_terminate_timeout_seconds",
                             kCollectiveTimeoutSeconds);
  }
  return result;
}

Compiler::Compiler(std::shared_ptr<const pjrt::Client> client, const SessionOptions& options)
    : client_(std::move(client)),
      cache_(options.cache, options.shared_cache),
      log_compiles_(env_flag("HUM_LOG_COMPILES", false)) {}

Compiler::Loaded Compiler::find_in_use(const CompileRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(request.key.hash());
  Loaded loaded = found == in_use_.end() ? nullptr : found->second.lock();
  if (loaded) ++counters_.memory_hits;
  return loaded;
}

Compiler::Loaded Compiler::load(const CompileRequest& request, std::string& cause) {
  const monitor::Timed timed(monitor::SpanKind::kLoad, request.name);
  auto lookup = cache_.load(request.name, request.key);
  Loaded loaded;
  if (lookup.program) {
    std::string why_not;
    auto program =
        pjrt::LoadedExecutable::try_deserialize(client_, *lookup.program, request.options, why_not);
    if (program) {
      loaded = std::make_shared<const pjrt::LoadedExecutable>(std::move(*program));
    } else {
      lookup.corrupt = true;
      lookup.cause = "the plugin rejected the entry: " + why_not;
    }
  }
  cause = lookup.cause;
  const std::lock_guard lock(mutex_);
  counters_.corrupt_entries += lookup.corrupt ? 1 : 0;
  if (!loaded) return nullptr;
  ++counters_.disk_hits;
  if (is_known_to_run(request)) in_use_[request.key.hash()] = loaded;
  if (log_compiles_) spdlog::info("{}: from the compile cache", request.name);
  return loaded;
}

bool Compiler::is_known_to_run(const CompileRequest& request) const {
  return cache_.has_run(request.name, request.key);
}

void Compiler::keep(const CompileRequest& request, Loaded loaded) {
  cache_.mark_run(request.name, request.key);
  const std::lock_guard lock(mutex_);
  in_use_[request.key.hash()] = std::move(loaded);
}

void Compiler::store(const CompileRequest& request, const pjrt::LoadedExecutable& loaded) const {
  if (!cache_.enabled()) return;
  std::string why_not;
  if (const auto bytes = loaded.executable().try_serialize(why_not)) {
    cache_.store(request.name, request.key, *bytes);
  } else {
    warn_once("serialize", "this plugin's programs cannot be cached on disk: " + why_not);
  }
}

Compiler::Loaded Compiler::compile(const CompileRequest& request, const std::string& cause) {
  const monitor::Timed timed(monitor::SpanKind::kCompile, request.name);
  const auto start = std::chrono::steady_clock::now();
  auto loaded = std::make_shared<const pjrt::LoadedExecutable>(
      compile_text(client_, request.text, request.options));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  store(request, *loaded);
  const std::lock_guard lock(mutex_);
  ++counters_.compiles;
  counters_.compile_seconds += spent.count();
  counters_.misses.push_back({request.name, cause});
  in_use_[request.key.hash()] = loaded;
  const auto level =
      warm_ ? spdlog::level::warn : (log_compiles_ ? spdlog::level::info : spdlog::level::debug);
  spdlog::log(level, "{}: compiled in {} ({})", request.name, format_duration(spent.count()),
              cause);
  return loaded;
}

Compiler::Loaded Compiler::compile_after_failed_probe(const CompileRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    ++counters_.failed_probes;
  }
  return compile(request, "the entry on disk did not run");
}

void Compiler::expect_warm() {
  const std::lock_guard lock(mutex_);
  warm_ = true;
}

Counters Compiler::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace hum::runtime
