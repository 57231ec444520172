// hum data stems: makes training material for separation.
#include <iostream>

#include "app/training/make_data.h"
#include "base/log.h"
#include "base/names.h"
#include "cli/commands/commands.h"

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
  const auto made = app::make_stems(args.options);
  if (made.stop_signal != 0) {
    spdlog::warn("stopped; to resume, repeat the command");
    return 128 + made.stop_signal;
  }
  std::cout << (made.is_whole
                    ? fmt::format("{} in {}\n", counted(made.count, "window"), args.options.output)
                    : fmt::format("rank {} of {} is done; the others are not\n", made.rank.rank,
                                  made.rank.ranks));
  return 0;
}

}  // namespace

const Command kDataStems = {"data stems",
                            "make songs as six stems: training material for separation",
                            "hum data stems --config stems -o runs/stems", make_command<Args, run>};

}  // namespace hum::cli
