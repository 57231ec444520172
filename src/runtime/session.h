// A session: an opened plugin with its devices. It compiles graph functions into executables.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "graph/function.h"
#include "graph/memory/estimate.h"
#include "pjrt/client.h"
#include "pjrt/compile_options.h"
#include "pjrt/ffi_registry.h"
#include "runtime/executable.h"
#include "runtime/host_tensor.h"
#include "runtime/tensor.h"

namespace hum::runtime {

struct SessionOptions {
  // Empty: HUM_PLUGIN, else the bundled CPU plugin.
  std::filesystem::path plugin;
  // Virtual CPU devices; 0: HUM_FAKE_DEVICES (default 1). Other platforms use their own devices.
  int devices = 0;
  // hum's kernels, and whether a custom call may use its kernel (otherwise its plain-op fallback is
  // printed). HUM_KERNELS=0 disables all kernels.
  std::vector<pjrt::KernelRow> kernels = {};
  std::function<bool(const graph::Node&)> use_kernel = [](const graph::Node&) { return false; };
  // The instruction set that the kernels chose; part of the compile cache's key.
  std::string instruction_set = {};
  // Folder of compiled programs, e.g. cache_folder() / "programs"; empty: no disk cache.
  std::filesystem::path cache = {};
  // A folder or s3:// URL that several machines share. Read if `cache` has no entry; written
  // together with it.
  std::string shared_cache = {};
};

struct CompileOptions {
  // Device ids of the replicas; their number is the number of replicas.
  std::vector<int> devices = {0};
  // Schedule for minimum memory instead of maximum concurrency, for training steps (ENGINE:
  // Gradients).
  bool optimize_memory = false;
  // More XLA options by name.
  pjrt::OptionOverrides overrides = {};
};

// How often a session compiled a program, found a compiled one, or failed to use one.
struct Counters {
  int64_t compiles = 0;
  int64_t memory_hits = 0;      // the session already has the program
  int64_t disk_hits = 0;        // loaded from the compile cache
  int64_t corrupt_entries = 0;  // entries on disk that could not be used
  int64_t failed_probes = 0;    // entries that loaded but did not run
  double compile_seconds = 0;
  struct Miss {
    std::string name;
    std::string cause;
  };
  std::vector<Miss> misses;  // one per compile
};

class Session {
 public:
  explicit Session(SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `name` is for logs and dumps, e.g. "coarse/train". Thread-safe. Throws the compiler's error
  // text; if the platform (or that of HUM_PROFILE) cannot run an op, the error names the op and its
  // source line. Under HUM_CHECK_NANS, runs with non-finite results throw, naming the first op that
  // produced one.
  Executable compile(const std::string& name, const graph::Function& function,
                     const CompileOptions& options = {});

  // Estimates the memory that the compiled function needs on its device, from the graph alone.
  graph::MemoryEstimate estimate_memory(const graph::Function& function) const;

  // After this call, every compile logs a warning with its cause: call it once everything should be
  // warm.
  void expect_warm();

  // The one T that all callers of a Session share. The first call makes it; it lives at least as
  // long as the Session. `make` must not call this function. Thread-safe.
  template <typename T>
  std::shared_ptr<const T> shared(const std::function<std::shared_ptr<const T>()>& make) {
    const std::scoped_lock lock(shared_mutex_);
    std::shared_ptr<const void>& slot = shared_[typeid(T)];
    if (!slot) slot = make();
    return std::static_pointer_cast<const T>(slot);
  }

  Tensor to_device(const HostTensor& tensor, int device = 0) const;
  // The same without a copy where the device can read host memory, for weights: `tensor` must
  // outlive the result and stay as it is.
  Tensor view_on_device(const HostTensor& tensor, int device = 0) const;
  HostTensor to_host(const Tensor& tensor) const;

  int device_count() const;
  // "cpu", "cuda", ...
  std::string platform() const;
  Counters counters() const;
  const std::shared_ptr<const pjrt::Client>& client() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::mutex shared_mutex_;
  std::map<std::type_index, std::shared_ptr<const void>> shared_;
};

}  // namespace hum::runtime
