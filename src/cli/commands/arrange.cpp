// hum arrange: arranges a hummed melody for a small band.
#include "app/play/arrange.h"

#include <iostream>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/conversion_flags.h"

namespace hum::cli {
namespace {

struct Args {
  app::ArrangeOptions options;
  bool json = false;

  template <class V>
  void declare(V& v) {
    v.positional("input", options.input,
                 "a recording of a hummed or sung melody: wav, flac, ogg, mp3, m4a or webm");
    v.short_flag('o', "output", options.output, "folder for the stems, the mix and the MIDI file");
    v("style", options.style, "style of the accompaniment");
    v("beats", options.beats_per_bar, "beats per bar: 3 or 4");
    v("format", options.format, "file format of the stems and the mix");
    options.lead.visit_fields(v);
    options.sound.visit_fields(v);
    v("json", json, "print a report as JSON");
    group_conversion_flags(v);
  }
};

int run(Args& args) {
  const Json report = app::arrange(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::arrangement_text(report);
  }
  return 0;
}

}  // namespace

const Command kArrange = {
    "arrange", "arrange a hummed melody for a small band: stems, mix, MIDI",
    "hum arrange examples/vocadito_10.wav --preset flute --tempo 90 -o arrangement",
    make_command<Args, run>};

}  // namespace hum::cli
