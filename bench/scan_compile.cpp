// scan-compile: time to trace, print and compile a training step of 48 layers against one of 4,
// with the layers as a scan over stacked weights. The times without a scan are reported beside
// them.
#include <algorithm>
#include <chrono>
#include <iostream>

#include "app/session_options.h"
#include "bench/bars.h"
#include "bench/deep_model.h"

namespace hum::bench {
namespace {

constexpr int64_t kShallow = 4, kDeep = 48;
constexpr double kMost = 2;

// The fastest of `times` compilations, in a session without a cache.
double compile_seconds(int64_t layers, bool stack, int times) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    auto options = app::session_options();
    options.cache.clear();
    options.shared_cache.clear();
    runtime::Session session(std::move(options));
    const auto start = std::chrono::steady_clock::now();
    const auto step = deep_step({.layers = layers}, {.stack_layers = stack});
    session.compile("deep/train", step, {.optimize_memory = true});
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

}  // namespace

eval::Bar scan_compile(const Scale& scale) {
  const int64_t shallow = scale.smoke ? 1 : kShallow, deep = scale.smoke ? 2 : kDeep;
  const int times = scale.smoke ? 1 : 2;
  eval::Bar bar{.name = "scan-compile",
                .unit = "times",
                .bar = fmt::format("{} stacked layers compile in <= {} x the time of {}", deep,
                                   kMost, shallow)};
  eval::TextTable table({"layers", "stacked s", "one by one s"});
  double stacked[2] = {}, single[2] = {};
  for (int i = 0; i < 2; ++i) {
    const int64_t layers = i == 0 ? shallow : deep;
    stacked[i] = compile_seconds(layers, true, times);
    single[i] = compile_seconds(layers, false, times);
    table.row({std::to_string(layers), fmt::format("{:.2f}", stacked[i]),
               fmt::format("{:.2f}", single[i])});
    bar.ours[std::to_string(layers)] = {{"stacked_s", stacked[i]}, {"single_s", single[i]}};
  }
  std::cerr << table.text();
  bar.value = stacked[1] / stacked[0];
  bar.peer = {{"one_by_one", single[1] / single[0]}};
  bar.checks.at_most("deep_over_shallow", stacked[1] / stacked[0], kMost);
  return bar;
}

}  // namespace hum::bench
