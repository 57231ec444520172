// hum plan: memory, time and money of a training run on a cluster.
#include "cli/commands/plan.h"

#include <iostream>

#include "app/plan/outlook.h"
#include "app/plan/plot.h"
#include "app/plan/report.h"
#include "base/error.h"
#include "base/json.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  std::string model, cluster, plot, calibration, hardware_file;
  int64_t seq = 0;
  app::LayoutWishes layout;
  plan::Goal goal;
  bool search = false, json = false;
  template <class V>
  void declare(V& v) {
    v("model", model, "a name (" + plan::known_models() + ") or a Hugging Face config.json");
    v("cluster", cluster, "hardware:nodes, e.g. trn1.32xlarge:16, or the family: trn1:16");
    v("seq", seq, "tokens a sequence (0: the model's longest)");
    layout.visit_fields(v);
    goal.visit_fields(v);
    v("search", search, "list every layout that fits, fastest first");
    v("plot", plot, "a picture of these layouts (.svg): step time, memory and cost");
    v("calibration", calibration, "a file of hum plan calibrate (default: the hardware's own)");
    v("hardware_file", hardware_file, "figures of hardware (default: hardware/devices.yaml)");
    v("json", json, "print the plan as JSON");
  }
};

int run(Args& args) {
  if (args.model.empty() || args.cluster.empty()) {
    fail(ExitCode::kUsage, "hum plan needs --model and --cluster",
         "hum plan --model llama-7b --cluster trn1.32xlarge:16 --batch 1024; or one of its "
         "commands: hum plan --help");
  }
  if (!args.plot.empty()) app::require_plot(args.plot);
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  const app::Cluster cluster = app::parse_cluster(args.cluster, hardware);
  plan::Transformer model = plan::named_model(args.model);
  if (args.seq != 0) model.sequence = args.seq;
  const auto calibration = app::read_calibration_for(*cluster.device, args.calibration);
  const auto found = app::find_layouts(model, args.layout, cluster, calibration.efficiency);
  const auto outlook = plan::look_ahead(model, found.fitting.front().layout, *cluster.device,
                                        calibration, args.goal);
  Json report = app::outlook_report(args.model, model, cluster, outlook);
  if (!args.plot.empty()) {
    Json drawn = report;
    drawn["layouts"] = app::layouts_report(found);
    app::write_layouts_plot(args.plot, drawn);
  }
  if (args.search) report["layouts"] = app::layouts_report(found);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::outlook_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlan = {"plan", "memory, time and money of a training run before it is launched",
                       "hum plan --model llama-7b --cluster trn1.32xlarge:16 --batch 1024 "
                       "--tokens 1e12",
                       make_command<Args, run>};

}  // namespace hum::cli
