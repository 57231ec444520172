// hum generate: hummed melodies on an instrument.
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>

#include "app/play/batch_conversion.h"
#include "app/play/conversion_report.h"
#include "app/play/converter.h"
#include "app/play/outputs.h"
#include "app/play/wav_stream.h"
#include "app/stop.h"
#include "audio/notes.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "pipeline/recording.h"
#include "pipeline/stream.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> inputs;
  app::OutputOptions outputs;
  app::ConversionOptions performance;
  app::DeliveryOptions delivery;
  bool stream = false, json = false;

  template <class V>
  void declare(V& v) {
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
    performance.visit_fields(v);
    v("loop", delivery.loop, "whole bars that repeat without a seam, from the first beat on");
    v("beats", delivery.beats_per_bar, "beats of a bar, for --loop");
    v("backing", delivery.backing, "a song to mix the melody into, from the same start");
    v("gain", delivery.gain_db, "how much louder than the backing the melody is, in dB");
    v("stream", stream, "a wav on stdout while it is made; -o is not needed");
    delivery.sound.visit_fields(v);
    v("json", json, "print a report as JSON; for several recordings a list");
  }
};

// Everything that can be refused without reading or computing.
void validate(const Args& args) {
  validate(args.performance);
  validate(args.delivery.sound);
  if (args.delivery.beats_per_bar < 1 || args.delivery.beats_per_bar > 32) {
    fail(ExitCode::kUsage, fmt::format("--beats {} is outside 1..32", args.delivery.beats_per_bar),
         "--beats 3 is a waltz");
  }
  if (!(args.delivery.gain_db >= -60 && args.delivery.gain_db <= 60)) {
    fail(ExitCode::kUsage, fmt::format("--gain {} is outside -60..60", args.delivery.gain_db),
         "--gain 3 is a little louder than the backing");
  }
  if (args.delivery.gain_db != 0 && args.delivery.backing.empty()) {
    fail(ExitCode::kUsage, "--gain is the melody's level over a --backing", "--backing song.wav");
  }
  if (args.delivery.loop && !args.delivery.backing.empty()) {
    fail(ExitCode::kUsage, "--loop and --backing exclude each other", "mix the loop yourself");
  }
  if (args.delivery.loop && args.performance.score.tempo == "off") {
    fail(ExitCode::kUsage, "--loop is a number of bars, and --tempo is off", "--tempo auto");
  }
  const bool more = args.delivery.loop || !args.delivery.backing.empty() || args.json ||
                    args.outputs.takes != 1 || !args.outputs.output.empty() ||
                    !args.outputs.picture.empty() || args.delivery.sound.bits == app::Bits::k24 ||
                    args.inputs.size() != 1;
  if (args.stream && more) {
    fail(ExitCode::kUsage,
         "--stream writes one recording to stdout, in 16 bits or float, with no -o, --takes, "
         "--loop, --backing, --picture or --json",
         "hum generate hum.wav --preset violin --stream | aplay");
  }
}

Json report_of(const app::Recording& recording, const app::Converter& converter) {
  return app::conversion_report(recording.plan, converter, recording.hearing, recording.played,
                                recording.takes, recording.watch.laps());
}

// Says what went wrong with one of many.
Json report_fault(const app::Recording& recording) {
  const std::string input = recording.plan.input.string();
  try {
    std::rethrow_exception(recording.fault);
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool is_named = what.find(input) != std::string::npos;
    std::cerr << "hum: error: " << (is_named ? "" : input + ": ") << what << '\n';
    return {{"input", input}, {"error", error.message()}, {"code", static_cast<int>(error.code())}};
  }
}

// Returns the exit code of the first fault.
int produce_all(std::vector<app::OutputPlan> plans, const Args& args, app::Converter& converter,
                const std::optional<audio::AudioBuffer>& backing) {
  Json reports = Json::array();
  int code = 0;
  size_t faults = 0;
  app::BatchConversion(args.delivery, converter, backing, std::move(plans),
                       [&](const app::Recording& recording) {
                         reports.push_back(recording.fault ? report_fault(recording)
                                                           : report_of(recording, converter));
                         const Json& report = reports.back();
                         if (recording.fault) {
                           if (code == 0) code = report["code"];
                           ++faults;
                         } else if (!args.json) {
                           std::cout << app::conversion_text(report);
                         }
                       })
      .run();
  if (args.json) print_json(reports);
  std::cerr << fmt::format("{} of {} recordings were played\n", reports.size() - faults,
                           reports.size());
  return code;
}

int produce_one(std::vector<app::OutputPlan> plan, const Args& args, app::Converter& converter,
                const std::optional<audio::AudioBuffer>& backing) {
  app::BatchConversion(args.delivery, converter, backing, std::move(plan),
                       [&](const app::Recording& recording) {
                         if (recording.fault) std::rethrow_exception(recording.fault);
                         const Json report = report_of(recording, converter);
                         if (args.json) {
                           print_json(report);
                         } else {
                           std::cout << app::conversion_text(report);
                         }
                       })
      .run();
  return 0;
}

int stream(const Args& args, app::Converter& converter) {
  app::Stopwatch watch;
  if (!args.outputs.midi.empty()) {
    pipeline::require_output(args.outputs.midi, {".mid", ".midi", ".csv", ".json"});
  }
  const app::Hearing hearing = converter.listen(args.inputs[0], watch);
  const auto& notes = hearing.score.notes;
  if (!args.outputs.midi.empty()) {
    app::write_melody(args.outputs.midi, converter, hearing.score, notes);
  }
  const int rate_hz = args.delivery.sound.rate(), channels = converter.channels();
  const int written = std::max(channels, args.delivery.sound.channels());
  app::WavStream out(stdout, rate_hz, written, args.delivery.sound.format());
  bool is_first = true;
  const auto sink = [&](std::span<const float> samples) {
    out.write(
        audio::widened({rate_hz, channels, {samples.begin(), samples.end()}}, written).samples);
    if (is_first && !samples.empty()) watch.lap("first_sound");
    is_first = is_first && samples.empty();
  };
  pipeline::StreamFinisher finisher(pipeline::end_of(notes), rate_hz, sink, channels);
  converter.stream(notes, [&](std::span<const float> samples) { finisher.push(samples); });
  finisher.finish();
  watch.lap("rest");
  const Json laps = watch.laps();
  const double generated = laps["first_sound"], before = laps["melody"];
  std::cerr << fmt::format(
      "first sound {:.2f} s after the melody, {:.2f} s after the start; all {:.1f} s in {:.2f} s\n",
      generated, generated + before + laps["read"].get<double>() + laps["load"].get<double>(),
      out.seconds(), laps["total"].get<double>());
  return 0;
}

int run(Args& args) {
  validate(args);
  app::Converter converter(args.performance);
  if (args.stream) return stream(args, converter);
  const auto plans = app::plan_outputs(args.inputs, args.outputs, converter.instrument_name(),
                                       {args.delivery.backing, args.performance.timbre});
  for (const auto& plan : plans) app::require_holds(plan.sounds[0], args.delivery.sound);
  std::optional<audio::AudioBuffer> backing;
  if (!args.delivery.backing.empty()) {
    backing = audio::read_audio(args.delivery.backing, args.performance.max_seconds);
  }
  if (plans.size() > 1) converter.prepare();  // what is wrong there is wrong for all
  const auto produce = plans.size() == 1 ? produce_one : produce_all;
  return produce(plans, args, converter, backing);
}

}  // namespace

const Command kGenerate = {
    "generate", "play hummed melodies on an instrument",
    "hum generate examples/vocadito_10.wav --preset violin -o violin.wav --midi melody.mid",
    make_command<Args, run>};

}  // namespace hum::cli
