// hum presets: lists the instruments that hum generate plays.
#include "data/synthesis/presets.h"

#include <algorithm>
#include <iostream>

#include "app/play/synthesizer.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  std::string weights;
  bool json = false, all = false;
  template <class V>
  void declare(V& v) {
    v("json", json, "print JSON");
    v("all", all, "also list instruments that the weights were not trained on");
    v("weights", weights, "folder of weights (default: HUM_WEIGHTS, else weights/)");
  }
};

// The name of a MIDI pitch; 60 is "C4".
std::string note_name(int pitch) {
  static constexpr const char* kNames[] = {"C",  "C#", "D",  "D#", "E",  "F",
                                           "F#", "G",  "G#", "A",  "A#", "B"};
  return fmt::format("{}{}", kNames[pitch % 12], pitch / 12 - 1);
}

int run(Args& args) {
  const auto known = app::known_presets(app::weights_folder(args.weights));
  if (known.empty() && !args.all) {
    spdlog::warn(
        "{} holds no references: cannot tell which instruments these weights support (see --all)",
        app::weights_folder(args.weights).string());
  }
  Json list = Json::array();
  for (const data::Preset& preset : data::presets()) {
    const bool trained = std::ranges::find(known, &preset) != known.end();
    if (!trained && !args.all) continue;
    list.push_back({{"name", preset.name},
                    {"alias", preset.alias},
                    {"family", preset.family},
                    {"program", preset.program},
                    {"low", preset.low},
                    {"high", preset.high},
                    {"polyphonic", preset.polyphonic},
                    {"trained", trained},
                    {"held_out", preset.held_out}});
    if (args.json) continue;
    std::cout << fmt::format("{:<22}{:<14}{:<11}{:>4}-{:<5}{}{}\n", preset.name, preset.alias,
                             preset.family, note_name(preset.low), note_name(preset.high),
                             preset.polyphonic ? "chords" : "one voice",
                             trained ? "" : ", not trained");
  }
  if (args.json) print_json(list, 1);
  return 0;
}

}  // namespace

const Command kPresets = {"presets", "list the instruments", "hum presets",
                          make_command<Args, run>};

}  // namespace hum::cli
