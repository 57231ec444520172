// hum evaluate stems: judges separated stems by the true ones.
#include <iostream>

#include "app/evaluation/stem_report.h"
#include "base/json.h"
#include "cli/commands/evaluate.h"

namespace hum::cli {
namespace {

struct Args {
  app::StemReportOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("estimates", options.estimates,
                 "folder with SONG/STEM.wav, or with STEM.wav of one song");
    v.positional("references", options.references, "the same of the true stems");
    v.short_flag('o', "output", options.output, "folder for a page with sounds and plots");
    options.visit_fields(v);
    v("json", json, "print JSON, with frames as museval writes them");
  }
};

int run(Args& args) {
  const Json report = app::stem_report(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::stem_text(report);
    if (!args.options.output.empty()) {
      std::cout << fmt::format("{0}/index.html, {0}/report.json\n", args.options.output);
    }
  }
  return 0;
}

}  // namespace

const Command kEvaluateStems = {
    "evaluate stems", "judge separated stems by the true ones, beside floors and ceilings",
    "hum evaluate stems separated stems -o report", make_command<Args, run>};

}  // namespace hum::cli
