// hum separate: splits songs into stems.
#include "app/separation/separate.h"

#include <iostream>

#include "base/error.h"
#include "base/process.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::SeparateOptions options;
  bool json = false;

  template <class V>
  void declare(V& v) {
    v.positional("inputs", options.inputs,
                 "songs, or folders of them: wav, flac, ogg, mp3, m4a, webm; - reads stdin");
    v.short_flag('o', "output", options.outputs.output,
                 "folder to write to: FOLDER/SONG/STEM.wav; - for stdout, with one stem");
    options.outputs.visit_fields(v);
    v("clip_mode", options.clip_mode,
      "beyond full scale: rescale (all stems of the song alike), clamp, or none; float32 keeps it "
      "unless clamped");
    v("vocals", options.vocals,
      "who finds the vocals: auto is spleeter where make fetch-spleeter has run, else own");
    v("weights", options.weights,
      "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", options.max_seconds, "longest song to accept, in seconds");
    v("json", json, "print a report as JSON (several songs: a list)");
    v.group("Files", {"filename", "mp3", "flac", "int24", "float32", "clip_mode", "overwrite"});
  }
};

int run(Args& args) {
  const bool to_stdout = args.options.outputs.output == kStandardStream;
  require_one_on_stdout("-o -", to_stdout, args.json);
  Json reports = Json::array();
  const auto summary = app::separate(args.options, [&](const app::SeparatedFile& one) {
    if (!one.fault.empty()) {
      std::cerr << "hum: error: " << one.fault << '\n';
    } else if (!args.json) {
      (to_stdout ? std::cerr : std::cout) << app::separated_text(one.report);
    }
    reports.push_back(one.report);
  });
  const bool is_only = summary.songs == 1;
  if (args.json) print_json(is_only ? reports[0] : reports);
  if (!is_only) {
    std::cerr << fmt::format("{} of {} songs have their stems\n", summary.songs - summary.faults,
                             summary.songs);
  }
  return summary.exit_code;
}

}  // namespace

const Command kSeparate = {"separate",
                           "split songs into stems: drums, bass, vocals, lead, chordal, other",
                           "hum separate song.mp3 --two-stems vocals", make_command<Args, run>};

}  // namespace hum::cli
