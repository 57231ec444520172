// hum evaluate model: writes a report on the released models.
#include <iostream>

#include "app/evaluation/model_report.h"
#include "base/json.h"
#include "cli/commands/evaluate.h"

namespace hum::cli {
namespace {

constexpr int64_t kQuickClips = 14;

struct Args {
  app::ModelReportOptions options;
  bool quick = false, json = false;
  template <class V>
  void declare(V& v) {
    v.short_flag('o', "output", options.output, "folder for the report");
    options.visit_fields(v);
    v("quick", quick, "evaluate 14 clips: minutes instead of hours, wider intervals");
    v("json", json, "print report.json");
  }
};

void show(const Json& report) {
  for (const Json& row : report["rows"]) {
    const Json& all = row["groups"]["all"];
    auto value = [&](const char* key) {
      return all[key].is_object() ? fmt::format("{:.3f}", all[key]["value"].get<double>()) : "-";
    };
    std::cout << fmt::format("{:30} chroma {}  F1 {}  timbre {}  mel {}\n",
                             row["name"].get<std::string>(), value("chroma"), value("note_f1"),
                             value("timbre"), value("mel_distance"));
  }
}

int run(Args& args) {
  if (args.quick) args.options.test_set.clips = std::min(args.options.test_set.clips, kQuickClips);
  const Json written = app::write_model_report(args.options);
  if (args.json) {
    print_json(written);
  } else {
    show(written);
    std::cout << fmt::format("{}/index.html, listening.html, report.json, clips.csv\n",
                             args.options.output);
  }
  return 0;
}

}  // namespace

const Command kEvaluateModel = {"evaluate model", "evaluate the models: figures, plots, sounds",
                                "hum evaluate model -o report --clips 200",
                                make_command<Args, run>};

}  // namespace hum::cli
