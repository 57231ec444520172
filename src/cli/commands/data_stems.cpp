// hum data stems: makes training material for separation.
#include "app/training/make_data.h"
#include "cli/commands/commands.h"
#include "cli/commands/made_data.h"

namespace hum::cli {
namespace {

struct Args {
  app::MakeItemsOptions options{.output = "runs/stems"};
  template <class V>
  void declare(V& v) {
    v("config", options.config, "YAML configuration, or the name of one in configs/ (stems, ...)");
    v.short_flag('o', "output", options.output, "folder for the shards; intact shards are kept");
    v("count", options.count, "number of windows (0: the configuration's)");
    v("threads", options.threads, "threads that make windows (0: as many as hum computes with)");
    v("rank", options.rank, "rank of this process (-1: as mpirun, torchrun or srun set it)");
    v("ranks", options.ranks, "number of processes that share the work (0: as they set it)");
  }
};

int run(Args& args) {
  return report_made(app::make_stems(args.options), "window", args.options.output);
}

}  // namespace

const Command kDataStems = {"data stems",
                            "make songs as six stems: training material for separation",
                            "hum data stems --config stems -o runs/stems", make_command<Args, run>};

}  // namespace hum::cli
