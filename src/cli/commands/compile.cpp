// hum compile: compiles a configuration's training step into the compile cache, so that the run
// starts without a wait.
#include <iostream>

#include "app/training/model_step_reports.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::CompileStepOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("config", options.configuration,
                 "YAML configuration of a training stage, or the name of one in configs/");
    v("batch", options.batch, "items in a batch (0: the configuration's)");
    v("memory_limit", options.memory_limit,
      "refuse a step that needs more memory than this, e.g. 6GB");
    v("json", json, "print the result as JSON");
  }
};

int run(Args& args) {
  const Json report = app::compile_report(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::compile_text(report);
  }
  return 0;
}

}  // namespace

const Command kCompile = {"compile", "compile a training step into the cache before the run",
                          "hum compile coarse", make_command<Args, run>};

}  // namespace hum::cli
