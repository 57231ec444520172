// plan-memory: memory that `hum plan memory` predicts for steps of hum's own models, against the
// compiler's figure for the same steps: one device, and data-parallel on virtual CPU devices.
#include <cmath>
#include <iostream>
#include <numeric>
#include <span>

#include "app/plan/planned_step.h"
#include "app/session_options.h"
#include "app/training/model_step.h"
#include "base/bytes.h"
#include "bench/lm/model.h"
#include "bench/plan.h"
#include "models/llama/model.h"
#include "train/data_parallel.h"

namespace hum::bench {
namespace {

using graph::DType;
using graph::RecomputePolicy;
using enum graph::RecomputePolicy;

constexpr double kMostPercent = 10;

// 7.5M parameters, more than half of them in the embedding and the head.
constexpr int64_t kBatch = 4, kLength = 256;
models::llama::LlamaConfig small_llama() {
  return {
      .transformer = {.layers = 4, .width = 256, .heads = 8, .kv_heads = 4, .feed_forward = 832},
      .vocabulary = 8192};
}

struct Case {
  std::string name;
  nn::TrainSpec spec;
  RecomputePolicy recompute = kNone;
  train::OptimizerConfig optimizer = {};
  int devices = 1;
};

train::OptimizerConfig bf16_weights() {
  train::OptimizerConfig optimizer;
  optimizer.weights = train::WeightsType::kBF16;
  return optimizer;
}

int64_t compiled_bytes(const Case& c) {
  runtime::SessionOptions options = app::session_options();
  options.devices = c.devices;
  runtime::Session session(options);
  const auto step =
      train::data_parallel_step(c.spec, c.optimizer, {.recompute = c.recompute}, c.devices).step;
  std::vector<int> devices(static_cast<size_t>(c.devices));
  std::iota(devices.begin(), devices.end(), 0);
  const auto stats = session
                         .compile(c.spec.name + "/train", step.function,
                                  {.devices = devices, .optimize_memory = true})
                         .memory_stats();
  HUM_REQUIRE(stats.has_value(), "the plugin reports no memory statistics");
  return stats->total_bytes();
}

// Adds a row and a check; returns the error in percent.
double judge(const Case& c, eval::Bar& bar, eval::TextTable& table) {
  const plan::Memory planned =
      app::step_memory(c.spec, c.optimizer, {.recompute = c.recompute}, c.devices);
  const int64_t compiled = compiled_bytes(c);
  const double error = 100 * (planned.total() / static_cast<double>(compiled) - 1);
  const auto bytes = [](double value) { return format_bytes(static_cast<int64_t>(value)); };
  table.row({c.name, std::string(to_name(c.recompute)), std::string(to_name(c.optimizer.weights)),
             std::to_string(c.devices), bytes(planned.weights + planned.optimizer),
             bytes(planned.gradients), bytes(planned.activations), bytes(planned.temporaries),
             bytes(planned.collectives), bytes(planned.total()), format_bytes(compiled),
             fmt::format("{:+.1f}", error)});
  const std::string key =
      fmt::format("{}, {}, {} weights, {} devices", c.name, to_name(c.recompute),
                  to_name(c.optimizer.weights), c.devices);
  bar.ours[key] = {
      {"planned_bytes", planned.total()}, {"compiled_bytes", compiled}, {"error_percent", error}};
  bar.checks.at_most(key, std::abs(error), kMostPercent);
  return error;
}

}  // namespace

eval::Bar plan_memory(const Scale& scale) {
  eval::Bar bar{
      .name = "plan-memory",
      .unit = "%, worst error",
      .bar = fmt::format("planned memory within {} % of the compiler's figure", kMostPercent)};
  eval::TextTable table({"step", "recompute", "weights", "devices", "state", "gradients",
                         "activations", "temporaries", "collectives", "planned", "compiled",
                         "error %"});
  const models::llama::Llama llama(small_llama());
  const Lm lm{LmSize()};
  const auto coarse = app::read_model_step(app::configuration_path("coarse"));
  const auto codec = app::read_model_step(app::configuration_path("codec"));
  const auto f32 = llama.train_spec({.batch = kBatch, .frames = kLength});
  const auto in_parts = llama.train_spec({.batch = 8, .frames = 512});  // logits in 2 x 64 MB
  const auto bf16 = llama.train_spec({.batch = kBatch, .frames = kLength, .compute = DType::kBF16});
  double worst = 0;
  const Case cases[] = {{"llama f32", f32},
                        {"llama f32", f32, kNone, {}, 2},
                        {"llama f32", f32, RecomputePolicy::kFull},
                        {"llama f32, longer", in_parts, RecomputePolicy::kFull},
                        {"llama bf16", bf16, kSelective, bf16_weights()},
                        {"lm 25.7M bf16", lm.train_spec(DType::kBF16), kSelective},
                        {"coarse bf16", coarse.spec, kNone, coarse.loop.optimizer},
                        {"codec bf16", codec.spec, kNone, codec.loop.optimizer},
                        {"llama bf16", bf16, kSelective, {}, 4},
                        {"llama bf16", bf16, RecomputePolicy::kFull, bf16_weights(), 8}};
  for (const Case& c : std::span(cases).first(scale.smoke ? 2 : std::size(cases))) {
    worst = std::max(worst, std::abs(judge(c, bar, table)));
  }
  std::cerr << table.text();
  bar.value = worst;
  return bar;
}

}  // namespace hum::bench
