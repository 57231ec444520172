// recompute-memory: the largest batch of a training step of a 12-block transformer that fits a
// given memory, as the compiler reports it, with and without recomputation of the blocks.
#include <iostream>

#include "app/session_options.h"
#include "base/bytes.h"
#include "bench/bars.h"
#include "bench/deep_model.h"

namespace hum::bench {
namespace {

using graph::RecomputePolicy;

constexpr int64_t kMemoryBytes = 2'000'000'000, kSmokeMemoryBytes = 60'000'000;
constexpr int64_t kLayers = 12, kSmokeLayers = 2;
// The search stops within batch / kPrecision of the largest batch that fits.
constexpr int64_t kPrecision = 32, kSmokePrecision = 2;
constexpr double kLeastGain = 5;

class Measure {
 public:
  Measure(RecomputePolicy policy, const Scale& scale)
      : policy_(policy),
        layers_(scale.smoke ? kSmokeLayers : kLayers),
        memory_bytes_(scale.smoke ? kSmokeMemoryBytes : kMemoryBytes),
        precision_(scale.smoke ? kSmokePrecision : kPrecision) {}

  int64_t bytes(int64_t batch) {
    const auto function = deep_step({.layers = layers_, .batch = batch}, {.recompute = policy_});
    const auto stats =
        session_.compile("deep/train", function, {.optimize_memory = true}).memory_stats();
    HUM_REQUIRE(stats.has_value(), "the plugin reports no memory statistics");
    return stats->total_bytes();
  }

  // By bisection: memory grows with the batch.
  int64_t largest_batch() {
    int64_t fits = 1, exceeds = 2;
    while (bytes(exceeds) <= memory_bytes_) {
      fits = exceeds;
      exceeds *= 2;
    }
    while (exceeds - fits > std::max<int64_t>(1, fits / precision_)) {
      const int64_t middle = (fits + exceeds) / 2;
      (bytes(middle) <= memory_bytes_ ? fits : exceeds) = middle;
    }
    return fits;
  }

 private:
  RecomputePolicy policy_;
  int64_t layers_, memory_bytes_, precision_;
  runtime::Session session_{app::session_options()};
};

}  // namespace

eval::Bar recompute_memory(const Scale& scale) {
  eval::Bar bar{
      .name = "recompute-memory",
      .unit = "x the batch without recomputation",
      .bar = fmt::format("largest batch in {}: full recomputation >= {} x none, "
                         "selective in between",
                         format_bytes(scale.smoke ? kSmokeMemoryBytes : kMemoryBytes), kLeastGain)};
  eval::TextTable table({"recompute", "largest batch", "step of 8"});
  std::vector<double> batches;
  for (const auto policy :
       {RecomputePolicy::kNone, RecomputePolicy::kSelective, RecomputePolicy::kFull}) {
    Measure measure(policy, scale);
    const int64_t batch = measure.largest_batch();
    const int64_t bytes = measure.bytes(8);
    table.row({std::string(to_name(policy)), std::to_string(batch), format_bytes(bytes)});
    bar.ours[std::string(to_name(policy))] = {{"batch", batch}, {"bytes_at_8", bytes}};
    batches.push_back(static_cast<double>(batch));
  }
  std::cerr << table.text();
  bar.value = batches[2] / batches[0];
  bar.peer = {{"seed_001", 512.0 / 70}};
  bar.checks.at_least("full_over_none", batches[2] / batches[0], kLeastGain);
  bar.checks.at_least("selective_over_none", batches[1] / batches[0], 1.2);
  return bar;
}

}  // namespace hum::bench
