#include "app/play/synthesis_options.h"

#include <limits>

#include "base/error.h"

namespace hum::app {

models::humming::SamplingOptions sampling_of(const SynthesisOptions& options) {
  auto sampling = options.sampling;
  if (options.strength == SynthesisOptions::kNeutralStrength) return sampling;
  sampling.temperature = 0.4 + 0.8 * options.strength;
  sampling.guidance = 2 - options.strength;
  sampling.draft = 0.8 - 0.6 * options.strength;
  return sampling;
}

void validate_takes(int64_t takes, const SynthesisOptions& options) {
  if (takes <= 1) return;
  if (!options.lm) {
    fail(ExitCode::kUsage, "several takes need --lm: without it only their noise differs",
         "add --lm, or omit --takes");
  }
  const auto sampling = sampling_of(options);
  if (sampling.greedy || sampling.temperature == 0 || sampling.draft == 1) {
    fail(ExitCode::kUsage,
         "with --greedy, --temperature 0 or --draft 1 all takes are the same but for noise",
         "omit that flag, or omit --takes");
  }
  const int64_t seed = options.sampling.seed;
  if (seed > std::numeric_limits<int64_t>::max() - takes) {
    fail(ExitCode::kUsage, fmt::format("--seed {} leaves no seeds for {} takes", seed, takes),
         "use a smaller --seed");
  }
}

void validate(const SynthesisOptions& options) {
  models::humming::validate(options.sampling);
  if (!(options.residual >= 0 && options.residual <= 1)) {
    fail(ExitCode::kUsage, fmt::format("--residual {} is outside 0..1", options.residual),
         "0 adds nothing, 1 adds all that the draft misses");
  }
  if (!(options.strength >= 0 && options.strength <= 1)) {
    fail(ExitCode::kUsage, fmt::format("--strength {} is outside 0..1", options.strength),
         "0 stays close to melody and timbre, 1 is free");
  }
  const bool has_strength = options.strength != SynthesisOptions::kNeutralStrength;
  if (!options.lm && (has_strength || models::humming::is_set(options.sampling))) {
    fail(ExitCode::kUsage,
         "--strength, --greedy, --temperature, --top-k, --top-p, --draft and all flags of guidance "
         "need --lm",
         "add --lm, or omit them: without it nothing is sampled");
  }
  const models::humming::SamplingOptions neutral;
  const auto& own = options.sampling;
  const bool is_overridden = own.temperature != neutral.temperature || own.draft != neutral.draft ||
                             own.guidance != neutral.guidance ||
                             own.melody_guidance != neutral.melody_guidance ||
                             own.timbre_guidance != neutral.timbre_guidance || own.greedy;
  if (has_strength && is_overridden) {
    fail(ExitCode::kUsage, "--strength sets --temperature, --guidance and --draft",
         "omit --strength, or omit --temperature, --greedy, --draft and every --guidance");
  }
}

}  // namespace hum::app
