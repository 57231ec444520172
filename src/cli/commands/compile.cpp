// hum compile: fills the compile cache with a configuration's training step, so that the run itself
// starts at once.
#include <chrono>
#include <iostream>

#include "app/session_options.h"
#include "app/training/model_step.h"
#include "base/bytes.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "train/compile_step.h"

namespace hum::cli {
namespace {

struct Args {
  std::string config;
  int64_t batch = 0;
  std::string memory_limit;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("config", config, "YAML configuration of a training stage (configs/*.yaml)");
    v("batch", batch, "items in a batch, instead of the configuration's (0)");
    v("memory_limit", memory_limit, "refuse a step that needs more memory than this, e.g. 6GB");
    v("json", json, "print the result as JSON");
  }
};

int run(Args& args) {
  const auto start = std::chrono::steady_clock::now();
  app::ModelStep step = app::read_model_step(app::configuration_path(args.config), args.batch);
  if (!args.memory_limit.empty()) step.loop.memory_limit = args.memory_limit;
  const train::StepOptions options = step.loop.step_options();
  runtime::Session session(app::session_options());
  const auto traced = train::step_function(step.spec, step.loop.optimizer, options.blocks);
  const auto program =
      train::compile_step(session, step.spec, step.loop.optimizer, traced, options);
  const auto counters = session.counters();
  const auto estimate = session.estimate_memory(traced.function);
  const auto stats = program.memory_stats();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool was_there = counters.compiles == 0;
  if (args.json) {
    print_json({{"program", traced.function.name},
                {"cached", was_there},
                {"seconds", seconds},
                {"estimated_bytes", estimate.total_bytes()},
                {"memory_bytes", stats ? Json(stats->total_bytes()) : Json()}});
  } else {
    std::cout << fmt::format("{}: {} in {}; it needs {} ({} estimated from the graph)\n",
                             traced.function.name, was_there ? "was in the cache" : "compiled",
                             format_duration(seconds),
                             stats ? format_bytes(stats->total_bytes()) : "an unknown amount",
                             format_bytes(estimate.total_bytes()));
  }
  return 0;
}

}  // namespace

const Command kCompile = {"compile", "compile a training step ahead, into the compile cache",
                          "hum compile configs/coarse.yaml", make_command<Args, run>};

}  // namespace hum::cli
