// hum generate: hummed melodies on an instrument.
#include <iostream>

#include "app/play/conversion_report.h"
#include "app/play/convert.h"
#include "base/error.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::ConvertOptions options;
  bool stream = false, json = false;

  template <class V>
  void declare(V& v) {
    auto& [inputs, outputs, conversion, delivery] = options;
    v.positional("inputs", inputs,
                 "recordings of hummed or sung melodies, or folders of them: wav, flac, ogg, mp3");
    v.short_flag('o', "output", outputs.output,
                 "sound to write: .wav, .flac, .ogg or .mp3; a folder for several recordings");
    v("format", outputs.format, "of the sounds in a folder");
    v("midi", outputs.midi,
      "also write the melody that was played: .mid, .csv or .json; with a folder the extension "
      "alone");
    v("picture", outputs.picture,
      "also draw the notes over the sound's spectrogram: .png or .svg; with a folder the extension "
      "alone");
    v("takes", outputs.takes, "takes of each recording: seeds from --seed on, out-1.wav, ...");
    conversion.visit_fields(v);
    v("loop", delivery.loop, "whole bars that repeat without a seam, from the first beat on");
    v("beats", delivery.beats_per_bar, "beats of a bar, for --loop");
    v("backing", delivery.backing, "a song to mix the melody into, from the same start");
    v("gain", delivery.gain_db, "how much louder than the backing the melody is, in dB");
    v("stream", stream, "a wav on stdout while it is made; -o is not needed");
    delivery.sound.visit_fields(v);
    v("json", json, "print a report as JSON; for several recordings a list");
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
  if (args.stream) {
    if (args.json) {
      fail(ExitCode::kUsage, "--stream and --json both write to stdout", "leave one of them out");
    }
    return stream(args);
  }
  Json reports = Json::array();
  const auto summary = app::convert(args.options, [&](const app::Converted& one) {
    if (!one.fault.empty()) {
      std::cerr << "hum: error: " << one.fault << '\n';
    } else if (!args.json) {
      std::cout << app::conversion_text(one.report);
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
