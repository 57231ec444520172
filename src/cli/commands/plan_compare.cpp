// hum plan compare: clusters side by side for one training run.
#include <iostream>

#include "app/plan/compare.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands/plan.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  app::CompareOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("clusters", options.clusters,
                 "hardware:nodes or hardware, where one is now first (none: all with a price, "
                 "p4d.24xlarge first)",
                 false);
    v("model", options.comparison.model,
      "a name (" + plan::known_models() + ") or a Hugging Face config.json");
    v("nodes", options.nodes, "node counts of clusters that are given without one");
    v("seq", options.seq, "tokens a sequence (0: the model's longest)");
    plan::Market& market = options.comparison.market;
    v("batch", market.global_batch, "sequences a step");
    market.run.visit_fields(v);
    v("spot_wait_minutes", market.spot_wait_minutes, "until a node that was taken is replaced");
    v("engineer_week_cost", market.engineer_week_cost, "dollars, for migrations");
    options.comparison.situation.visit_fields(v);
    v("budget", options.comparison.budget, "dollars: how many tokens they buy (0: not asked)");
    v("tariff", options.comparison.tariff, "whose sensitivities are shown");
    v("spread", options.comparison.spread, "share by which each figure may be off in them");
    v("plot", options.plot, "a picture of the clusters (.svg): days and cost on demand");
    v("calibration", options.calibration,
      "a file of hum plan calibrate, for the clusters of its hardware (default: hum's own)");
    v("phase", options.phases, "name=hardware:nodes:days, once for each phase of a project");
    v("hardware_file", options.hardware_file,
      "figures of hardware (default: hardware/devices.yaml)");
    v("json", json, "print the comparison as JSON");
  }
};

int run(Args& args) {
  const app::Comparison& asked = args.options.comparison;
  if (asked.model.empty() || asked.market.run.tokens == 0) {
    fail(ExitCode::kUsage, "hum plan compare needs --model and --tokens",
         "hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 trn1.32xlarge:16");
  }
  const Json report = app::compare_clusters(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::comparison_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlanCompare = {
    "plan compare", "clusters side by side for a training run: time, money, migration",
    "hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 trn1.32xlarge:16",
    make_command<Args, run>};

}  // namespace hum::cli
