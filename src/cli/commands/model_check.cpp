// hum model check: counts a model's parameters and traces its training step from shapes alone, or
// opens every model in a folder of weights.
#include <iostream>

#include "app/training/model_step_reports.h"
#include "app/weights_check.h"
#include "base/files.h"
#include "cli/commands/commands.h"
#include "models/registry.h"

namespace hum::cli {
namespace {

struct Args {
  std::string name;
  int64_t batch = 1;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("name", name,
                 models::trained_models() +
                     ", tiny, 385m, 10b, a YAML configuration, or a folder of weights");
    v("batch", batch, "items in the traced step");
    v("json", json, "print the result as JSON");
  }
};

int run(Args& args) {
  const bool is_weights = is_folder(args.name);
  const Json report =
      is_weights ? app::weights_report(args.name) : app::size_report(args.name, args.batch);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << (is_weights ? app::weights_text(report) : app::size_text(report));
  }
  return 0;
}

}  // namespace

const Command kModelCheck = {"model check", "count a model's parameters and check its shapes",
                             "hum model check 10b", make_command<Args, run>};

}  // namespace hum::cli
