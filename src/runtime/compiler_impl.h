// From a printed module to a loaded program: the one in use, the one on disk, or a compile.
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

// What the plugin is told: the options, and what its platform needs besides.
pjrt::CompileOptions pjrt_options(const CompileOptions& options, const std::string& platform);

// All that one compile needs.
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

  // Null when no program of the session is the same.
  Loaded find_in_use(const CompileRequest& request);
  // From disk; null and the cause of the miss when that cannot be. One that is not known to run
  // here is not in use until keep().
  Loaded load(const CompileRequest& request, std::string& cause);
  bool is_known_to_run(const CompileRequest& request) const;
  // A program from disk has run.
  void keep(const CompileRequest& request, Loaded loaded);
  // `cause`: why it was neither in use nor on disk. Throws the plugin's text.
  Loaded compile(const CompileRequest& request, const std::string& cause);
  // In place of a program from disk that loaded but did not run.
  Loaded compile_after_failed_probe(const CompileRequest& request);

  // From now on a compile is a warning.
  void expect_warm();
  Counters counters() const;

 private:
  void store(const CompileRequest& request, const pjrt::LoadedExecutable& loaded) const;

  std::shared_ptr<const pjrt::Client> client_;
  CompileCache cache_;
  bool log_compiles_;

  // Guards what follows.
  mutable std::mutex mutex_;
  Counters counters_;
  std::map<std::string, std::weak_ptr<const pjrt::LoadedExecutable>> in_use_;  // by key hash
  bool warm_ = false;
};

}  // namespace hum::runtime
