#include "base/error.h"
#include "models/humming/session.h"

namespace hum::models::humming {

void validate(const SamplingOptions& options) {
  auto refuse = [](const char* flag, double value, const char* allowed) {
    fail(ExitCode::kUsage, fmt::format("--{} {} is out of range", flag, value),
         fmt::format("--{} takes {}", flag, allowed));
  };
  if (!(options.temperature >= 0 && options.temperature <= 10)) {
    refuse("temperature", options.temperature, "0 to 10");
  }
  if (options.top_k < 0) refuse("top-k", static_cast<double>(options.top_k), "0 (all) or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) refuse("top-p", options.top_p, "above 0, to 1");
  if (!(options.guidance >= 0 && options.guidance <= 20)) {
    refuse("guidance", options.guidance, "0 to 20");
  }
  if (options.seed < 0) refuse("seed", static_cast<double>(options.seed), "0 or more");
}

}  // namespace hum::models::humming
