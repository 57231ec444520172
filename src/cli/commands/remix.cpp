// hum remix: plays the melody of a song's stem on another instrument, in the song.
#include "app/separation/remix.h"

#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "app/stop.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/commands/commands.h"
#include "cli/commands/conversion_flags.h"
#include "pipeline/score.h"

namespace hum::cli {
namespace {

struct Args {
  app::RemixOptions options;
  bool json = false;

  template <class V>
  void declare(V& v) {
    auto& outputs = options.outputs;
    v.positional("input", options.input, "a song: wav, flac, ogg, mp3, m4a or webm; - reads stdin");
    v.short_flag('o', "output", outputs.output,
                 "sound to write: .wav, .flac, .ogg or .mp3; - for stdout");
    v("stem", options.stem, "stem to play: bass, vocals, lead, chordal or other");
    v("keep", options.keep, "leave the original stem in the song");
    v("gain", options.gain_db, "level of the part above the stem, in dB");
    v("vocals", options.vocals,
      "who finds the vocals: auto is spleeter where make fetch-spleeter has run, else own");
    v("format", outputs.format, "file format of the sound, if -o is a folder or -");
    v("bits", options.sound.bits, "sample format of the output");
    v("midi", outputs.midi, "file for the notes that were played: .mid, .csv or .json");
    v("picture", outputs.picture, "picture of the notes over the part's spectrogram: .png or .svg");
    options.part.visit_fields(v);
    v("json", json, "print a report as JSON");
    group_conversion_flags(v, /*has_format=*/false);
    v.group("Sound", {"bits"});
  }
};

// One status line for each stage.
class StatusLine {
 public:
  void show(std::string_view stage, double done) {
    app::require_no_stop();
    static const std::map<std::string_view, std::string> kDoing = {{"separate", "separating"},
                                                                   {"hear", "hearing"},
                                                                   {"play", "generating"},
                                                                   {"write", "writing"}};
    if (stage != stage_) {
      stage_ = stage;
      line_.emplace(kDoing.at(stage) + ", %", 100);
    }
    line_->update(static_cast<int64_t>(100 * done));
  }

 private:
  std::string stage_;
  std::optional<Progress> line_;
};

int run(Args& args) {
  const bool to_stdout = args.options.outputs.output == kStandardStream;
  require_one_on_stdout("-o -", to_stdout, args.json);
  pipeline::require_snap_for_grid(args.options.part.score);
  Json report;
  {
    StatusLine line;
    report = app::remix(args.options, {.heard = [](const Json&) {},
                                       .progress = [&](std::string_view stage,
                                                       double done) { line.show(stage, done); }});
  }
  for (const auto& warning : report["warnings"]) spdlog::warn("{}", warning.get<std::string>());
  if (args.json) {
    print_json(report);
  } else {
    (to_stdout ? std::cerr : std::cout) << app::remix_text(report);
  }
  return 0;
}

}  // namespace

const Command kRemix = {"remix", "play the vocals, or another stem of a song, on an instrument",
                        "hum remix song.mp3 --preset violin -o violin.mp3",
                        make_command<Args, run>};

}  // namespace hum::cli
