// hum plan assess: the migration assessment of a training run, one page.
#include <filesystem>
#include <iostream>

#include "app/plan/assess.h"
#include "app/plan/report.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/commands/plan.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  std::string model, from, to, output, hardware_file;
  int64_t seq = 0;
  plan::Market market;
  plan::Situation situation;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("model", model,
      "a name (coarse, " + plan::known_models() + "), a Hugging Face config.json, or a YAML");
    v("from", from, "where the run is now: NVIDIA hardware:nodes, e.g. p4d:16");
    v("to", to, "where it might go: hardware:nodes, e.g. trn1:16");
    v("seq", seq, "tokens a sequence (0: the model's longest)");
    v("batch", market.global_batch, "sequences a step");
    market.run.visit_fields(v);
    v("spot_wait_minutes", market.spot_wait_minutes, "until a node that was taken is replaced");
    v("engineer_week_cost", market.engineer_week_cost, "dollars");
    situation.visit_fields(v);
    v("hardware_file", hardware_file, "figures of hardware (default: hardware/devices.yaml)");
    v.short_flag('o', "output", output,
                 "the page to write, .html or .md (none: Markdown, printed)");
    v("json", json, "print the assessment as JSON");
  }
};

void check(const Args& args) {
  if (args.model.empty() || args.from.empty() || args.to.empty() || args.market.run.tokens == 0) {
    fail(ExitCode::kUsage, "hum plan assess needs --model, --from, --to and --tokens",
         "hum plan assess --model llama-7b --from p4d:16 --to trn1:16 --tokens 1e12");
  }
  if (args.output.empty()) return;
  const std::string ending = std::filesystem::path(args.output).extension();
  if (ending != ".html" && ending != ".md")
    fail(ExitCode::kUsage, fmt::format("{}: neither .html nor .md", args.output),
         "--json prints the figures for programs");
  require_writable(args.output);
}

plan::Option option_of(const std::string& cluster_text, const plan::Transformer& shape,
                       const plan::Hardware& hardware, const plan::Market& market) {
  const app::Cluster cluster = app::parse_cluster(cluster_text, hardware);
  const auto calibration =
      plan::read_calibration(plan::calibration_path(cluster.device->calibrated_as()));
  return plan::consider(shape, *cluster.device, cluster.nodes, calibration, market);
}

int run(Args& args) {
  check(args);
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  const app::AssessedModel model = app::assessed_model(args.model, args.seq);
  app::Assessed assessed{.model = args.model, .shape = model.shape, .market = args.market};
  assessed.from = option_of(args.from, model.shape, hardware, args.market);
  assessed.to = option_of(args.to, model.shape, hardware, args.market);
  assessed.assessment =
      plan::assess(model.step, assessed.from, assessed.to, args.market, args.situation);
  const Json report = app::assessment_report(assessed);
  const bool is_html = args.output.ends_with(".html");
  const std::string page =
      is_html ? app::assessment_page(report) : app::assessment_markdown(report);
  if (!args.output.empty()) write_file(args.output, page);
  if (args.json) {
    print_json(report);
  } else if (args.output.empty()) {
    std::cout << page;
  } else {
    std::cout << fmt::format("{}: {}\n", args.output, to_name(assessed.assessment.verdict.advice));
  }
  return 0;
}

}  // namespace

const Command kPlanAssess = {
    "plan assess", "migration assessment of a training run: operators, cost, risks, steps",
    "hum plan assess --model llama-7b --from p4d:16 --to trn1:16 --tokens 1e12 -o report.html",
    make_command<Args, run>};

}  // namespace hum::cli
