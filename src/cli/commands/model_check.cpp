// hum model check: counts a coarse LM's parameters and traces its training step from shapes alone.
#include <chrono>
#include <iostream>

#include "app/training/model_step.h"
#include "app/training/stage.h"
#include "base/fields_json.h"
#include "cli/commands/commands.h"
#include "graph/stablehlo/print.h"
#include "models/humming/coarse.h"

namespace hum::cli {
namespace {

struct Args {
  std::string name;
  int64_t batch = 1;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("name", name, "tiny, 385m, 10b, or a YAML configuration");
    v("batch", batch, "items of 6 s in the traced step");
    v("json", json, "print the result as JSON");
  }
};

int run(Args& args) {
  const auto start = std::chrono::steady_clock::now();
  app::TrainConfig<models::humming::CoarseConfig> config;
  read_config(app::model_config_path(args.name), config);
  const models::humming::Coarse model(config.model);
  const auto spec =
      model.train_spec(args.batch, data::kItemFrames, data::kReferenceFrames, graph::DType::kBF16);
  const auto step = train::step_function(spec, config.stage.loop.optimizer);
  const std::string text = graph::print_module(step.function);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int64_t all = model.parameters().element_count();
  const Json report = {{"model", args.name},
                       {"core_parameters", model.core_parameters()},
                       {"conditioning_parameters", all - model.core_parameters()},
                       {"parameters", all},
                       {"training_step_bytes", text.size()},
                       {"seconds", seconds}};
  if (args.json) {
    print_json(report);
  } else {
    std::cout << fmt::format(
        "{}: {} parameters in the published model, {} in the conditioning, {} in all\n"
        "training step: {} bytes of StableHLO, traced in {:.2f} s\n",
        args.name, model.core_parameters(), all - model.core_parameters(), all, text.size(),
        seconds);
  }
  return 0;
}

}  // namespace

const Command kModelCheck = {"model check", "count a model's parameters and check its shapes",
                             "hum model check 10b", make_command<Args, run>};

}  // namespace hum::cli
