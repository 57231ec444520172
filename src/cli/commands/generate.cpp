// hum generate: plays hummed melodies on an instrument.
#include <iostream>

#include "app/play/conversion_report.h"
#include "app/play/convert.h"
#include "base/error.h"
#include "base/process.h"
#include "cli/commands/commands.h"
#include "cli/commands/conversion_flags.h"

namespace hum::cli {
namespace {

struct Args {
  app::ConvertOptions options;
  bool stream = false, json = false;

  template <class V>
  void declare(V& v) {
    auto& [inputs, outputs, conversion, delivery] = options;
    v.positional("inputs", inputs,
                 "recordings of hummed or sung melodies, or folders of them: wav, flac, ogg, mp3, "
                 "m4a, webm; - reads stdin");
    v("recursive", outputs.recursive, "also play the recordings in subfolders");
    v.short_flag('o', "output", outputs.output,
                 "sound to write: .wav, .flac, .ogg or .mp3; - for stdout; a folder for several "
                 "recordings");
    v("format", outputs.format, "file format of the sounds, if -o is a folder or -");
    v("midi", outputs.midi,
      "file for the melody that was played: .mid, .csv or .json; only the extension if -o is a "
      "folder");
    v("picture", outputs.picture,
      "picture of the notes over the sound's spectrogram: .png or .svg; only the extension if -o "
      "is a folder");
    v("takes", outputs.takes,
      "with --lm: takes of each recording, with seeds from --seed: out-1.wav, ...");
    conversion.visit_fields(v);
    v("loop", delivery.loop, "write whole bars from the first beat, as a seamless loop");
    v("beats", delivery.beats_per_bar, "beats per bar, for --loop");
    v("backing", delivery.backing, "song to mix the melody into; both start together");
    v("gain", delivery.gain_db, "level of the melody above the backing, in dB");
    v("stream", stream, "write a wav to stdout as it is made, instead of -o");
    delivery.sound.visit_fields(v);
    v("json", json, "print a report as JSON (several recordings: a list)");
    group_conversion_flags(v);
    v.group("Loops and backing", {"loop", "beats", "backing", "gain"});
  }
};

int stream(const Args& args) {
  const auto times = app::convert_to_stream(args.options, stdout);
  std::cerr << fmt::format(
      "first sound {:.2f} s after the melody, {:.2f} s after the start; all {:.1f} s in {:.2f} s\n",
      times.first_sound_after_melody_s, times.first_sound_s, times.sound_s, times.total_s);
  return 0;
}

int run(Args& args) {
  const bool to_stdout = args.options.outputs.output == kStandardStream;
  require_one_on_stdout("-o -", to_stdout, args.json);
  require_one_on_stdout("--stream", args.stream, args.json);
  if (args.stream) return stream(args);
  Json reports = Json::array();
  const auto summary = app::convert(args.options, [&](const app::Converted& one) {
    if (!one.fault.empty()) {
      std::cerr << "hum: error: " << one.fault << '\n';
    } else if (!args.json) {
      (to_stdout ? std::cerr : std::cout) << app::conversion_text(one.report);
    }
    reports.push_back(one.report);
  });
  const bool is_only = summary.recordings == 1;
  if (args.json) print_json(is_only ? reports[0] : reports);
  if (!is_only) {
    std::cerr << fmt::format("{} of {} recordings were played\n",
                             summary.recordings - summary.faults, summary.recordings);
  }
  return summary.exit_code;
}

}  // namespace

const Command kGenerate = {
    "generate", "play hummed melodies on an instrument",
    "hum generate examples/vocadito_10.wav --preset violin -o violin.wav --midi melody.mid",
    make_command<Args, run>};

}  // namespace hum::cli
