// What can be said of a configuration's training step before it is trained: how large it is,
// whether a platform can run it, what it takes to compile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/json.h"

namespace hum::app {

// Traces the step from shapes alone. {"model", "core_parameters", "conditioning_parameters",
// "parameters", "training_step_bytes", "seconds"}. Throws: what read_model_step throws.
Json size_report(const std::string& configuration, int64_t batch);
std::string size_text(const Json& report);

// Every op after the passes against what the platform can run. {"program", "platform", "supported",
// "ops": [{"op", "count", "verdict", "what", "source", "where"}]}. Throws: kUsage for an unknown
// platform and for a model that has nothing to audit; what read_configuration throws.
Json platform_audit_report(const std::string& configuration, const std::string& platform);
std::string platform_audit_text(const Json& report);

struct CompileStepOptions {
  std::string configuration;
  int64_t batch = 0;         // 0: the configuration's
  std::string memory_limit;  // empty: the configuration's
};

// Puts the step into the compile cache. {"program", "cached", "seconds", "estimated_bytes",
// "memory_bytes"}; null memory where the platform does not say. Throws: what train::compile_step
// throws.
Json compile_report(const CompileStepOptions& options);
std::string compile_text(const Json& report);

}  // namespace hum::app
