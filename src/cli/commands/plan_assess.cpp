// hum plan assess: writes a one-page migration assessment of a training run.
#include <iostream>

#include "app/plan/assess.h"
#include "base/error.h"
#include "cli/commands/plan.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  app::AssessOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    plan::Market& market = options.market;
    v("model", options.model,
      "a name (coarse, " + plan::known_models() +
          "), a Hugging Face config.json, or a YAML configuration");
    v("from", options.from, "current cluster: NVIDIA hardware:nodes, e.g. p4d:16");
    v("to", options.to, "cluster to move to: hardware:nodes, e.g. trn1:16");
    v("seq", options.seq, "tokens per sequence (0: the model's longest)");
    v("batch", market.global_batch, "sequences per step");
    market.run.visit_fields(v);
    v("spot_wait_minutes", market.spot_wait_minutes,
      "time until a reclaimed spot node is replaced");
    v("engineer_week_cost", market.engineer_week_cost, "US dollars per engineer and week");
    options.situation.visit_fields(v);
    v("hardware_file", options.hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
    v.short_flag('o', "output", options.output,
                 "page to write: .html or .md (default: print Markdown)");
    v("json", json, "print the assessment as JSON");
  }
};

int run(Args& args) {
  const app::AssessOptions& options = args.options;
  if (options.model.empty() || options.from.empty() || options.to.empty() ||
      options.market.run.tokens == 0) {
    fail(ExitCode::kUsage, "hum plan assess needs --model, --from, --to and --tokens",
         "hum plan assess --model llama-7b --from p4d:16 --to trn1:16 --tokens 1e12");
  }
  const auto [report, page] = app::assess(options);
  if (args.json) {
    print_json(report);
  } else if (options.output.empty()) {
    std::cout << page;
  } else {
    std::cout << fmt::format("{}: {}\n", options.output,
                             report["verdict"]["advice"].get<std::string>());
  }
  return 0;
}

}  // namespace

const Command kPlanAssess = {
    "plan assess", "assess moving a training run: operators, cost, risks, steps",
    "hum plan assess --model llama-7b --from p4d:16 --to trn1:16 --tokens 1e12 -o report.html",
    make_command<Args, run>};

}  // namespace hum::cli
