// hum worker: one worker of hum serve.
#include "cli/commands/commands.h"
#include "serve/service.h"

namespace hum::cli {
namespace {

struct Args {
  serve::WorkerServiceOptions options;
  template <class V>
  void declare(V& v) {
    options.visit_fields(v);
  }
};

int run(Args& args) {
  serve::run_worker(args.options);
  return 0;
}

}  // namespace

const Command kWorker = {"worker", "work for a hum serve that runs on this machine",
                         "hum worker --data DIR", make_command<Args, run>};

}  // namespace hum::cli
