// Reports on a configuration's training step before it runs: its size, whether a platform can run
// it, and the cost of compiling it.
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

// Checks every op after the passes against the platform. {"program", "platform", "supported",
// "ops": [{"op", "count", "verdict", "what", "source", "where"}]}. Throws: kUsage for an unknown
// platform and for a model that has nothing to audit; what read_configuration throws.
Json platform_audit_report(const std::string& configuration, const std::string& platform);
std::string platform_audit_text(const Json& report);

struct CompileStepOptions {
  std::string configuration;
  int64_t batch = 0;         // 0: the configuration's
  std::string memory_limit;  // empty: the configuration's
};

// Compiles the step into the compile cache. {"program", "cached", "seconds", "estimated_bytes",
// "memory_bytes"}; memory is null if the platform does not report it. Throws: what
// train::compile_step throws.
Json compile_report(const CompileStepOptions& options);
std::string compile_text(const Json& report);

}  // namespace hum::app
