// hum plan compare: compares clusters for one training run.
#include <iostream>

#include "app/plan/comparison.h"
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
    v.positional(
        "clusters", options.clusters,
        "hardware:nodes or hardware, the current cluster first (default: all hardware with a "
        "price, p4d.24xlarge first)",
        false);
    v("model", options.comparison.model,
      "a name (" + plan::known_models() + ") or a Hugging Face config.json");
    v("nodes", options.nodes, "node counts for clusters that are given without one");
    v("seq", options.seq, "tokens per sequence (0: the model's longest)");
    plan::Market& market = options.comparison.market;
    v("batch", market.global_batch, "sequences per step");
    market.run.visit_fields(v);
    v("spot_wait_minutes", market.spot_wait_minutes,
      "time until a reclaimed spot node is replaced");
    v("engineer_week_cost", market.engineer_week_cost,
      "US dollars per engineer and week, for migrations");
    options.comparison.situation.visit_fields(v);
    v("budget", options.comparison.budget,
      "US dollars: also print how many tokens they buy (0: do not)");
    v("tariff", options.comparison.tariff, "tariff of the sensitivity table");
    v("spread", options.comparison.spread,
      "relative error of each figure in the sensitivity table");
    v("plot", options.plot, "plot of the clusters (.svg): days and on-demand cost");
    v("calibration", options.calibration,
      "calibration from hum plan calibrate, for clusters of its hardware (default: hum's own)");
    v("phase", options.phases, "name=hardware:nodes:days; repeat for each phase of a project");
    v("hardware_file", options.hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
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
    "plan compare", "compare clusters for a training run: time, cost, migration",
    "hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 trn1.32xlarge:16",
    make_command<Args, run>};

}  // namespace hum::cli
