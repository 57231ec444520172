// hum data make: training items, made once and read by every training.
#include <iostream>

#include "app/training/make_items.h"
#include "base/log.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::MakeItemsOptions options;
  template <class V>
  void declare(V& v) {
    v("config", options.config, "YAML configuration (configs/data.yaml)");
    v.short_flag('o', "output", options.output, "folder of shards; what is whole there is kept");
    v("count", options.count, "items of 6 s, instead of the configuration's");
    v("codec", options.codec, "codec whose tokens the items get, instead of the configuration's");
    v("threads", options.threads, "threads that make items; 0: all");
    v("rank", options.rank,
      "which of several processes this is; -1: as mpirun, torchrun or srun say");
    v("ranks", options.ranks, "number of processes that share the work; 0: as these say");
  }
};

int run(Args& args) {
  const auto made = app::make_items(args.options);
  if (made.stop_signal != 0) {
    spdlog::warn("stopped; the same command resumes from there");
    return 128 + made.stop_signal;
  }
  std::cout << (made.is_whole ? fmt::format("{} items in {}\n", made.count, args.options.output)
                              : fmt::format("rank {} of {} is done; the others are not\n",
                                            made.rank.rank, made.rank.ranks));
  return 0;
}

}  // namespace

const Command kDataMake = {"data make", "make training items: WebDataset shards",
                           "hum data make --config configs/data.yaml -o runs/data",
                           make_command<Args, run>};

}  // namespace hum::cli
