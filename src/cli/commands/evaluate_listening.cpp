// hum evaluate listening: judges what people answered in the listening test of a report.
#include <iostream>

#include "app/evaluation/listening_report.h"
#include "base/json.h"
#include "cli/commands/evaluate.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> files;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("files", files,
                 "answers that listening.html of a report saved, one file per listener");
    v("json", json, "print JSON");
  }
};

int run(Args& args) {
  const Json report = app::listening_report(args.files);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::listening_text(report);
  }
  return 0;
}

}  // namespace

const Command kEvaluateListening = {
    "evaluate listening", "scores of the models in listening tests, by answers of people",
    "hum evaluate listening listening-anna.json listening-ben.json", make_command<Args, run>};

}  // namespace hum::cli
