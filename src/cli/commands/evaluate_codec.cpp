// hum evaluate codec: how well the codec copies sound, and how far its latents move under changes
// that nobody hears.
#include <iostream>

#include "app/evaluation/codec_report.h"
#include "base/json.h"
#include "cli/commands/evaluate.h"

namespace hum::cli {
namespace {

struct Args {
  app::CodecReportOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    options.visit_fields(v);
    v("json", json, "print JSON");
  }
};

int run(Args& args) {
  const Json report = app::codec_report(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::codec_text(report);
  }
  return 0;
}

}  // namespace

const Command kEvaluateCodec = {
    "evaluate codec", "evaluate the codec: its copies, and how far its latents move",
    "hum evaluate codec --data runs/data --items 48", make_command<Args, run>};

}  // namespace hum::cli
