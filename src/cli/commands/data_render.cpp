// hum data render: training items, rendered once and read by every training.
#include <iostream>

#include "cli/commands/commands.h"
#include "cli/player.h"
#include "cli/session.h"
#include "data/synthesis/item_files.h"
#include "pipeline/melody_line.h"

namespace hum::cli {
namespace {

struct Args {
  std::string config, output = "runs/data";
  int64_t count = 0, threads = 0;
  template <class V>
  void declare(V& v) {
    v("config", config, "YAML configuration (configs/data.yaml)");
    v.short_flag('o', "output", output, "folder of items; what is whole there is kept");
    v("count", count, "items of 6 s, instead of the configuration's");
    v("threads", threads, "rendering threads; 0: all");
  }
};

int run(Args& args) {
  data::WriteOptions options;
  if (!args.config.empty()) read_config(args.config, options);
  if (args.count > 0) options.count = args.count;
  if (args.threads > 0) options.threads = args.threads;
  runtime::Session session(session_options());
  // The melody as generation reads it from a hum.
  const auto transcribe = transcriber(session, {});
  data::write_items(args.output, options, [&](std::span<const float> samples) {
    return pipeline::melody_line(transcribe(samples));
  });
  std::cout << fmt::format("{} items in {}\n", options.count, args.output);
  return 0;
}

}  // namespace

const Command kDataRender = {"data render", "render training items with the synthesizer",
                             "hum data render --count 12000 -o runs/data", make_command<Args, run>};

}  // namespace hum::cli
