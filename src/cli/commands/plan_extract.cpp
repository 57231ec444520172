// hum plan extract: what the features of a library of recordings take.
#include <iostream>

#include "app/plan/extraction_report.h"
#include "cli/commands/plan.h"

namespace hum::cli {
namespace {

struct Args {
  app::ExtractionPlanOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("hours", options.hours, "hours of sound in the library");
    v("input_tb", options.input_tb, "or its size in TB, at --kbps");
    v("kbps", options.kbps, "bit rate of the recordings (1411.2: wav files of CDs)");
    v("cluster", options.cluster,
      "machine:count, e.g. c7a.48xlarge:16; with --days only the machine");
    v("days", options.days, "find how many machines finish in this time");
    v("rate", options.rate,
      "seconds of sound per core and second (default: as measured for hum's own file)");
    v("keep_audio", options.keep_audio, "the features hold the sound itself, too");
    v("machines", options.machines,
      "file with the rate and the machines (default: hardware/extraction.yaml)");
    v("json", json, "print the plan as JSON");
  }
};

int run(Args& args) {
  const Json report = app::extraction_plan(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::extraction_plan_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlanExtract = {
    "plan extract", "predict machines, days and money for hum data extract",
    "hum plan extract --input-tb 2000 --cluster c7a.48xlarge --days 14", make_command<Args, run>};

}  // namespace hum::cli
