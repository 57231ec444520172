// hum data make: makes training items, once for all training runs.
#include "app/training/make_data.h"
#include "cli/commands/commands.h"
#include "cli/commands/made_data.h"

namespace hum::cli {
namespace {

struct Args {
  app::MakeItemsOptions options;
  template <class V>
  void declare(V& v) {
    v("config", options.config, "YAML configuration, or the name of one in configs/ (data, ...)");
    v.short_flag('o', "output", options.output, "folder for the shards; intact shards are kept");
    v("count", options.count, "number of items, of 6 s each (0: the configuration's)");
    v("codec", options.codec, "codec that encodes the items (default: the configuration's)");
    v("threads", options.threads, "threads that make items (0: as many as hum computes with)");
    v("rank", options.rank, "rank of this process (-1: as mpirun, torchrun or srun set it)");
    v("ranks", options.ranks, "number of processes that share the work (0: as they set it)");
  }
};

int run(Args& args) {
  return report_made(app::make_items(args.options), "item", args.options.output);
}

}  // namespace

const Command kDataMake = {"data make", "make training items: WebDataset shards",
                           "hum data make --config data -o runs/data", make_command<Args, run>};

}  // namespace hum::cli
