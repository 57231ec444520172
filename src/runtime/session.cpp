#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "graph/ops/structure.h"
#include "graph/passes/finite_checks.h"
#include "graph/passes/passes.h"
#include "graph/profile/profile.h"
#include "graph/stablehlo/print.h"
#include "monitor/spans.h"
#include "runtime/cache_key.h"
#include "runtime/compile_cache.h"
#include "runtime/program_impl.h"
#include "runtime/transfer.h"

namespace hum::runtime {
namespace {

// In-process collectives abort the process when a replica waits this long for the others.
constexpr int64_t kCollectiveTimeoutSeconds = 600;
constexpr const char* kSchedulerOption = "xla_cpu_scheduler_type";

pjrt::CompileOptions pjrt_options(const CompileOptions& options, const std::string& platform) {
  pjrt::CompileOptions result{options.devices, options.overrides};
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

std::shared_ptr<Program> make_program(const std::string& name, const graph::Function& function,
                                      std::vector<int> devices) {
  auto program = std::make_shared<Program>();
  program->name = name;
  program->devices = std::move(devices);
  for (const graph::Value& parameter : function.parameters) {
    program->parameters.push_back({graph::parameter_name(parameter.node()), parameter.shape()});
  }
  for (const auto& donation : function.donations) {
    program->parameters[static_cast<size_t>(donation.parameter)].donated = true;
  }
  for (const graph::Value& result : function.results) program->results.push_back(result.shape());
  return program;
}

}  // namespace

using Loaded = std::shared_ptr<const pjrt::LoadedExecutable>;

// Older CPU plugins have one scheduler only; then its setting is dropped, with a warning.
pjrt::LoadedExecutable compile_text(const std::shared_ptr<const pjrt::Client>& client,
                                    const std::string& text, pjrt::CompileOptions options) {
  try {
    return pjrt::LoadedExecutable::compile(client, text, options);
  } catch (const Error& error) {
    const auto unknown = fmt::format("No such compile option: '{}'", kSchedulerOption);
    if (error.message().find(unknown) == std::string::npos) throw;
  }
  warn_once(kSchedulerOption, "this plugin cannot order work for least memory");
  options.overrides.erase(kSchedulerOption);
  return pjrt::LoadedExecutable::compile(client, text, options);
}

// All that one compile needs.
struct Request {
  std::string name;
  std::string text;
  pjrt::CompileOptions options;
  CacheKey key;
};

struct Session::State {
  SessionOptions options;
  std::shared_ptr<const pjrt::Client> client;
  std::string platform;
  std::string plugin_identity;
  std::string processor;
  std::optional<CompileCache> cache;
  bool log_compiles = false;

  // Guards what follows.
  mutable std::mutex mutex;
  Counters counters;
  std::map<std::string, std::weak_ptr<const pjrt::LoadedExecutable>> in_use;  // by key hash
  bool warm = false;
  int dumped = 0;

  // Writes the module that is compiled into the request: the function after all passes, printed.
  graph::FiniteChecks trace(Request& request, const graph::Function& function, int replicas) const;
  // HUM_PROFILE, else the plugin's platform.
  const graph::Profile& profile() const {
    return graph::profile_named(env_string("HUM_PROFILE", platform));
  }
  CacheKey key(const std::string& text, const pjrt::CompileOptions& options) const;
  void dump(const std::string& name, const std::string& text);
  Loaded find_in_use(const Request& request);
  // From disk; null and the cause of the miss when that cannot be.
  Loaded load(const Request& request, std::string& cause);
  Loaded compile(const Request& request, const std::string& cause);
  void store(const Request& request, const pjrt::LoadedExecutable& loaded) const;
};

graph::FiniteChecks Session::State::trace(Request& request, const graph::Function& function,
                                          int replicas) const {
  const monitor::Timed timed(monitor::SpanKind::kTrace, request.name);
  graph::Function passed = graph::run_passes(function).function;
  const graph::Profile& target = profile();
  const auto use_kernel = target.has_kernels ? options.use_kernel : graph::no_kernels;
  graph::require_supported(passed, target, use_kernel);
  graph::FiniteChecks checks;
  if (env_flag("HUM_CHECK_NANS", false)) checks = graph::add_finite_checks(passed, use_kernel);
  request.text = graph::print_module(passed, {use_kernel, replicas, target.has_fft});
  return checks;
}

CacheKey Session::State::key(const std::string& text, const pjrt::CompileOptions& options) const {
  const char* flags = std::getenv("XLA_FLAGS");
  return CacheKey({{"module", sha256(text)},
                   {"plugin", plugin_identity},
                   {"platform", platform + ", " + client->platform_version()},
                   {"processor", processor},
                   {"threads", std::to_string(compute_threads())},
                   {"devices", fmt::format("{} of {}", fmt::join(options.device_ids, ","),
                                           client->devices().size())},
                   {"options", sha256(pjrt::serialize(options))},
                   {"XLA_FLAGS", flags == nullptr ? "" : flags},
                   {"kernels", kernels_used(text, this->options.kernels)},
                   {"instruction set", this->options.instruction_set}});
}

// HUM_DUMP_IR: a numbered file a module.
void Session::State::dump(const std::string& name, const std::string& text) {
  const std::string folder = env_string("HUM_DUMP_IR");
  if (folder.empty()) return;
  std::string stem = name;
  std::ranges::replace(stem, '/', '_');
  const std::lock_guard lock(mutex);
  std::filesystem::create_directories(folder);
  write_file(std::filesystem::path(folder) / fmt::format("{:04}_{}.mlir", dumped++, stem), text);
}

Loaded Session::State::find_in_use(const Request& request) {
  const std::lock_guard lock(mutex);
  const auto found = in_use.find(request.key.hash());
  Loaded loaded = found == in_use.end() ? nullptr : found->second.lock();
  if (loaded) ++counters.memory_hits;
  return loaded;
}

Loaded Session::State::load(const Request& request, std::string& cause) {
  const monitor::Timed timed(monitor::SpanKind::kLoad, request.name);
  auto lookup = cache->load(request.name, request.key);
  Loaded loaded;
  if (lookup.program) {
    std::string why_not;
    auto program =
        pjrt::LoadedExecutable::try_deserialize(client, *lookup.program, request.options, why_not);
    if (program) {
      loaded = std::make_shared<const pjrt::LoadedExecutable>(std::move(*program));
    } else {
      lookup.corrupt = true;
      lookup.cause = "the plugin refuses the entry: " + why_not;
    }
  }
  cause = lookup.cause;
  const std::lock_guard lock(mutex);
  counters.corrupt_entries += lookup.corrupt ? 1 : 0;
  if (!loaded) return nullptr;
  ++counters.disk_hits;
  in_use[request.key.hash()] = loaded;
  if (log_compiles) spdlog::info("{}: from the compile cache", request.name);
  return loaded;
}

void Session::State::store(const Request& request, const pjrt::LoadedExecutable& loaded) const {
  if (!cache->enabled()) return;
  std::string why_not;
  if (const auto bytes = loaded.executable().try_serialize(why_not)) {
    cache->store(request.name, request.key, *bytes);
  } else {
    warn_once("serialize", "this plugin's programs cannot be kept on disk: " + why_not);
  }
}

Loaded Session::State::compile(const Request& request, const std::string& cause) {
  const monitor::Timed timed(monitor::SpanKind::kCompile, request.name);
  const auto start = std::chrono::steady_clock::now();
  auto loaded = std::make_shared<const pjrt::LoadedExecutable>(
      compile_text(client, request.text, request.options));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  store(request, *loaded);
  const std::lock_guard lock(mutex);
  ++counters.compiles;
  counters.compile_seconds += spent.count();
  counters.misses.push_back({request.name, cause});
  in_use[request.key.hash()] = loaded;
  const auto level =
      warm ? spdlog::level::warn : (log_compiles ? spdlog::level::info : spdlog::level::debug);
  spdlog::log(level, "{}: compiled in {} ({})", request.name, format_duration(spent.count()),
              cause);
  return loaded;
}

Session::Session(SessionOptions options) : state_(std::make_shared<State>()) {
  if (options.devices == 0) options.devices = static_cast<int>(env_int("HUM_FAKE_DEVICES", 1));
  if (!env_flag("HUM_KERNELS", true)) {
    options.use_kernel = [](const graph::Node&) { return false; };
  }
  auto plugin = options.plugin.empty() ? pjrt::Plugin::open() : pjrt::Plugin::open(options.plugin);
  pjrt::register_handlers(*plugin, options.kernels);
  pjrt::NamedValues create;
  if (options.devices > 1) create.emplace_back("cpu_device_count", int64_t{options.devices});
  state_->client = pjrt::Client::create(std::move(plugin), create);
  const auto available = static_cast<int>(state_->client->devices().size());
  HUM_REQUIRE(available >= options.devices, "{} devices wanted, the plugin offers {}",
              options.devices, available);
  state_->platform = state_->client->platform_name();
  state_->cache.emplace(options.cache, options.shared_cache);
  state_->processor = cpu_identity();
  if (state_->cache->enabled()) {
    state_->plugin_identity =
        plugin_identity(state_->client->plugin()->path(), state_->cache->folder());
  }
  state_->log_compiles = env_flag("HUM_LOG_COMPILES", false);
  state_->options = std::move(options);
}

Session::~Session() = default;

Executable Session::compile(const std::string& name, const graph::Function& function,
                            const CompileOptions& options) {
  const ErrorContext context([&] { return "compiling " + name; });
  const auto state = state_;
  Request request{.name = name, .options = pjrt_options(options, state->platform)};
  graph::FiniteChecks checks =
      state->trace(request, function, static_cast<int>(options.devices.size()));
  request.key = state->key(request.text, request.options);
  state->dump(name, request.text);

  auto program = make_program(name, function, options.devices);
  program->checks = std::move(checks);
  program->client = state->client;
  program->loaded = state->find_in_use(request);
  if (program->loaded) return Executable(std::move(program));
  std::string cause;
  program->loaded = state->load(request, cause);
  const bool from_disk = program->loaded != nullptr;
  if (!from_disk) program->loaded = state->compile(request, cause);
  if (from_disk && state->cache->has_run(request.name, request.key)) {
    return Executable(std::move(program));
  }
  program->after_first_run = [state, name, key = request.key] {
    state->cache->mark_run(name, key);
  };
  if (from_disk) {
    program->recompile = [state, request = std::move(request)] {
      {
        const std::lock_guard lock(state->mutex);
        ++state->counters.failed_probes;
      }
      return state->compile(request, "the entry on disk did not run");
    };
  }
  return Executable(std::move(program));
}

graph::MemoryEstimate Session::estimate_memory(const graph::Function& function) const {
  return graph::estimate_memory(graph::run_passes(function).function, state_->options.use_kernel);
}

void Session::expect_warm() {
  const std::lock_guard lock(state_->mutex);
  state_->warm = true;
}

Tensor Session::to_device(const HostTensor& tensor, int device) const {
  return upload(state_->client, device, tensor);
}
HostTensor Session::to_host(const Tensor& tensor) const { return download(tensor); }

int Session::device_count() const { return static_cast<int>(state_->client->devices().size()); }
std::string Session::platform() const { return state_->platform; }
const std::shared_ptr<const pjrt::Client>& Session::client() const { return state_->client; }
Counters Session::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters;
}

}  // namespace hum::runtime
