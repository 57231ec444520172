// Turns a printed module into a loaded program: one already in use, one from disk, or a new
// compile.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "pjrt/client.h"
#include "pjrt/compile_options.h"
#include "pjrt/loaded_executable.h"
#include "runtime/cache_key.h"
#include "runtime/compile_cache.h"
#include "runtime/session.h"

namespace hum::runtime {

// The options passed to the plugin, including those its platform needs.
pjrt::CompileOptions pjrt_options(const CompileOptions& options, const std::string& platform);

// Everything that one compile needs.
struct CompileRequest {
  std::string name;
  std::string text;
  pjrt::CompileOptions options;
  CacheKey key;
};

// Thread-safe.
class Compiler {
 public:
  using Loaded = std::shared_ptr<const pjrt::LoadedExecutable>;

  Compiler(std::shared_ptr<const pjrt::Client> client, const SessionOptions& options);

  const CompileCache& cache() const { return cache_; }

  // Null if no program of the session has this key.
  Loaded find_in_use(const CompileRequest& request);
  // Loads from disk; null, with the cause of the miss, if that fails. A program not known to run
  // here is not in use until keep().
  Loaded load(const CompileRequest& request, std::string& cause);
  bool is_known_to_run(const CompileRequest& request) const;
  // Call after a program from disk has run.
  void keep(const CompileRequest& request, Loaded loaded);
  // `cause`: why it was neither in use nor on disk. Throws the plugin's error text.
  Loaded compile(const CompileRequest& request, const std::string& cause);
  // Replaces a program from disk that loaded but did not run.
  Loaded compile_after_failed_probe(const CompileRequest& request);

  // After this call, every compile logs a warning.
  void expect_warm();
  Counters counters() const;

 private:
  void store(const CompileRequest& request, const pjrt::LoadedExecutable& loaded) const;

  std::shared_ptr<const pjrt::Client> client_;
  CompileCache cache_;
  bool log_compiles_;

  // Guards the members below.
  mutable std::mutex mutex_;
  Counters counters_;
  std::map<std::string, std::weak_ptr<const pjrt::LoadedExecutable>> in_use_;  // by key hash
  bool warm_ = false;
};

}  // namespace hum::runtime
