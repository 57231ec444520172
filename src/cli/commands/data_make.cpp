// hum data make: training items, made once and read by every training.
#include <iostream>
#include <optional>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "app/training/inputs.h"
#include "base/fields_json.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "data/shards/make_items.h"
#include "pipeline/sung_notes/sung_notes.h"

namespace hum::cli {
namespace {

struct Args {
  std::string config, output = "runs/data", codec;
  int64_t count = 0, threads = 0, rank = -1, ranks = 0;
  template <class V>
  void declare(V& v) {
    v("config", config, "YAML configuration (configs/data.yaml)");
    v.short_flag('o', "output", output, "folder of shards; what is whole there is kept");
    v("count", count, "items of 6 s, instead of the configuration's");
    v("codec", codec, "codec whose tokens the items get, instead of the configuration's");
    v("threads", threads, "threads that make items; 0: all");
    v("rank", rank, "which of several processes this is; -1: as mpirun, torchrun or srun say");
    v("ranks", ranks, "number of processes that share the work; 0: as these say");
  }
};

ProcessRank rank_of(const Args& args) {
  if (args.rank < 0 && args.ranks == 0) return process_rank();
  if (args.rank < 0 || args.rank >= args.ranks) {
    fail(ExitCode::kUsage, fmt::format("rank {} of {}: no such rank", args.rank, args.ranks),
         "give both, e.g. --rank 0 --ranks 2");
  }
  return {args.rank, args.ranks};
}

int run(Args& args) {
  data::MakeOptions options;
  if (!args.config.empty()) read_config(args.config, options);
  if (args.count > 0) options.count = args.count;
  if (args.threads > 0) options.threads = args.threads;
  if (!args.codec.empty()) options.codec = args.codec;
  const ProcessRank rank = rank_of(args);
  runtime::Session session(app::session_options());
  data::MakeTools tools{.rank = rank, .should_stop = [] { return app::stop_signal() != 0; }};
  // The melody as generation reads it from a hum.
  tools.transcriber = [transcribe = app::transcriber(session, {})](std::span<const float> samples) {
    return pipeline::sung_notes(samples, transcribe(samples));
  };
  std::optional<models::codec::CodecSession> codec;
  if (!options.codec.empty())
    tools.encoder = app::token_encoder(codec.emplace(session, options.codec));
  const bool whole = data::make_items(args.output, options, tools);
  if (app::stop_signal() != 0) {
    spdlog::warn("stopped; the same command goes on from there");
    return 128 + app::stop_signal();
  }
  std::cout << (whole ? fmt::format("{} items in {}\n", options.count, args.output)
                      : fmt::format("rank {} of {} is done; the others are not\n", rank.rank,
                                    rank.ranks));
  return 0;
}

}  // namespace

const Command kDataMake = {"data make", "make training items: WebDataset shards",
                           "hum data make --config configs/data.yaml -o runs/data",
                           make_command<Args, run>};

}  // namespace hum::cli
