#include "runtime/session.h"

#include <algorithm>
#include <atomic>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/threads.h"
#include "graph/ops/structure.h"
#include "graph/passes/finite_checks.h"
#include "graph/passes/passes.h"
#include "graph/profile/profile.h"
#include "graph/stablehlo/print.h"
#include "monitor/spans.h"
#include "runtime/cache_key.h"
#include "runtime/compiler_impl.h"
#include "runtime/program_impl.h"
#include "runtime/transfer.h"

namespace hum::runtime {
namespace {

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

struct Session::State {
  SessionOptions options;
  std::shared_ptr<const pjrt::Client> client;
  std::string platform;
  std::string plugin_identity;
  std::string processor;
  std::optional<Compiler> compiler;
  std::atomic<int> dumped = 0;

  // Adds the module to compile to the request: the function after all passes, printed.
  graph::FiniteChecks trace(CompileRequest& request, const graph::Function& function,
                            int replicas) const;
  // HUM_PROFILE, else the plugin's platform.
  const graph::Profile& profile() const;
  std::function<bool(const graph::Node&)> use_kernel() const {
    return profile().has_kernels ? options.use_kernel : graph::no_kernels;
  }
  CacheKey key(const std::string& text, const pjrt::CompileOptions& options) const;
  void dump(const std::string& name, const std::string& text);
};

const graph::Profile& Session::State::profile() const {
  const std::string wanted = env_string("HUM_PROFILE");
  if (wanted.empty()) return graph::profile_of_platform(platform);
  const ErrorContext context([] { return std::string("reading HUM_PROFILE"); });
  return graph::profile_named(wanted);
}

graph::FiniteChecks Session::State::trace(CompileRequest& request, const graph::Function& function,
                                          int replicas) const {
  const monitor::Timed timed(monitor::SpanKind::kTrace, request.name);
  graph::Function passed = graph::run_passes(function).function;
  const graph::Profile& target = profile();
  const auto use_kernel = this->use_kernel();
  graph::require_supported(passed, target, use_kernel);
  graph::FiniteChecks checks;
  if (env_flag("HUM_CHECK_NANS", false)) checks = graph::add_finite_checks(passed, use_kernel);
  request.text = graph::print_module(passed, {use_kernel, replicas, target.has_fft});
  return checks;
}

CacheKey Session::State::key(const std::string& text, const pjrt::CompileOptions& options) const {
  return CacheKey({{"module", sha256(text)},
                   {"plugin", plugin_identity},
                   {"platform", platform + ", " + client->platform_version()},
                   {"processor", processor},
                   {"threads", std::to_string(compute_threads())},
                   {"devices", fmt::format("{} of {}", fmt::join(options.device_ids, ","),
                                           client->devices().size())},
                   {"options", sha256(pjrt::serialize(options))},
                   {"XLA_FLAGS", env_string("XLA_FLAGS")},
                   {"kernels", kernels_used(text, this->options.kernels)},
                   {"instruction set", this->options.instruction_set}});
}

// HUM_DUMP_IR: writes one numbered file per module.
void Session::State::dump(const std::string& name, const std::string& text) {
  const std::string folder = env_string("HUM_DUMP_IR");
  if (folder.empty()) return;
  std::string stem = name;
  std::ranges::replace(stem, '/', '_');
  create_folder(folder);
  write_file(std::filesystem::path(folder) / fmt::format("{:04}_{}.mlir", dumped++, stem), text);
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
  HUM_REQUIRE(available >= options.devices, "{} devices requested, the plugin has {}",
              options.devices, available);
  state_->platform = state_->client->platform_name();
  state_->compiler.emplace(state_->client, options);
  state_->processor = cpu_identity();
  const CompileCache& cache = state_->compiler->cache();
  if (cache.enabled()) {
    state_->plugin_identity = plugin_identity(state_->client->plugin()->path(), cache.folder());
  }
  state_->options = std::move(options);
}

Session::~Session() = default;

Executable Session::compile(const std::string& name, const graph::Function& function,
                            const CompileOptions& options) {
  const ErrorContext context([&] { return "compiling " + name; });
  const auto state = state_;
  CompileRequest request{.name = name, .options = pjrt_options(options, state->platform)};
  graph::FiniteChecks checks =
      state->trace(request, function, static_cast<int>(options.devices.size()));
  request.key = state->key(request.text, request.options);
  state->dump(name, request.text);

  auto program = make_program(name, function, options.devices);
  program->checks = std::move(checks);
  program->client = state->client;
  program->loaded = state->compiler->find_in_use(request);
  if (program->loaded) return Executable(std::move(program));
  std::string cause;
  program->loaded = state->compiler->load(request, cause);
  if (!program->loaded) {
    program->loaded = state->compiler->compile(request, cause);
  } else if (!state->compiler->is_known_to_run(request)) {
    program->probation = {
        .compile_anew = [state,
                         request] { return state->compiler->compile_after_failed_probe(request); },
        .passed = [state,
                   request](auto loaded) { state->compiler->keep(request, std::move(loaded)); }};
  }
  return Executable(std::move(program));
}

graph::MemoryEstimate Session::estimate_memory(const graph::Function& function) const {
  return graph::estimate_memory(graph::run_passes(function).function, state_->use_kernel());
}

void Session::expect_warm() { state_->compiler->expect_warm(); }

Tensor Session::to_device(const HostTensor& tensor, int device) const {
  return upload(state_->client, device, tensor);
}
Tensor Session::view_on_device(const HostTensor& tensor, int device) const {
  return view(state_->client, device, tensor);
}
HostTensor Session::to_host(const Tensor& tensor) const { return download(tensor); }

int Session::device_count() const { return static_cast<int>(state_->client->devices().size()); }
std::string Session::platform() const { return state_->platform; }
const std::shared_ptr<const pjrt::Client>& Session::client() const { return state_->client; }
Counters Session::counters() const { return state_->compiler->counters(); }

}  // namespace hum::runtime
