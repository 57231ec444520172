#include "plan/layout.h"

#include <cstdlib>

#include "base/error.h"

namespace hum::plan {

namespace {

void require_positive(const char* what, int64_t value, ExitCode fault) {
  if (value > 0) return;
  fail(fault, fmt::format("a plan with {} = {}", what, value),
       fmt::format("{} must be positive", what));
}

// Requires that `parts` divides `whole`, the number of `what`.
void require_divides(const char* parts_name, int64_t parts, const char* what, int64_t whole,
                     ExitCode fault) {
  if (whole % parts == 0) return;
  fail(fault, fmt::format("{} = {} does not divide {} {}", parts_name, parts, whole, what),
       fmt::format("the nearest {} that does is {}", parts_name, nearest_divisor(whole, parts)));
}

}  // namespace

std::optional<Stages> split_blocks(int64_t layers, int64_t pp, StageSplit split) {
  const int64_t most_ends = split == StageSplit::kShortEnds ? 2 : 0;
  for (int64_t ends = 0; ends <= most_ends; ++ends) {
    const Stages stages{(layers + ends) / pp, ends == 2, ends >= 1};
    if ((layers + ends) % pp == 0 && (ends == 0 || stages.blocks > 1)) return stages;
  }
  return std::nullopt;
}

Stages stages_of(const Transformer& model, const Layout& layout) {
  const auto stages = split_blocks(model.layers, layout.pp, StageSplit::kShortEnds);
  HUM_CHECK(stages.has_value());
  return *stages;
}

std::vector<int64_t> divisors(int64_t value) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d <= value / d; ++d) {
    if (value % d != 0) continue;
    small.push_back(d);
    if (d != value / d) large.push_back(value / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

int64_t nearest_divisor(int64_t value, int64_t wanted) {
  int64_t best = 1;
  for (const int64_t d : divisors(value)) {
    if (std::abs(d - wanted) < std::abs(best - wanted)) best = d;
  }
  return best;
}

void validate(const Transformer& model, const Layout& layout, StageSplit split, ExitCode fault) {
  validate(model);
  require_positive("dp", layout.dp, fault);
  require_positive("tp", layout.tp, fault);
  require_positive("pp", layout.pp, fault);
  require_positive("global batch", layout.global_batch, fault);
  require_divides("tp", layout.tp, "heads", model.heads, fault);
  const auto stages = split_blocks(model.layers, layout.pp, split);
  if (!stages) require_divides("pp", layout.pp, "layers", model.layers, fault);
  require_divides("dp", layout.dp, "sequences of the global batch", layout.global_batch, fault);
  if (layout.interleave < 0 || layout.micro_batch < 0) {
    require_positive(layout.interleave < 0 ? "interleave" : "micro batch", -1, fault);
  }
  require_divides("interleave", layout.chunks(), "layers of a stage", stages->blocks, fault);
  if (layout.micro_batch > 0) {
    require_divides("micro batch", layout.micro_batch, "sequences of a data-parallel rank",
                    layout.global_batch / layout.dp, fault);
  }
}

}  // namespace hum::plan
