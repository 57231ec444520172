#include "app/play/convert.h"

#include <exception>
#include <filesystem>
#include <optional>

#include "app/play/conversion_report.h"
#include "app/play/recordings.h"
#include "app/play/wav_stream.h"
#include "audio/notes.h"
#include "base/error.h"
#include "base/process.h"
#include "decode/read.h"
#include "pipeline/recording.h"
#include "pipeline/stream.h"

namespace hum::app {
namespace {

// Rejects flags that would change nothing without another one.
void require_partners(const ConvertOptions& options) {
  const DeliveryOptions& delivery = options.delivery;
  if (!delivery.loop && delivery.beats_per_bar != DeliveryOptions().beats_per_bar) {
    fail(ExitCode::kUsage, "--beats needs --loop", "add --loop");
  }
  pipeline::require_snap_for_grid(options.conversion.score);
}

// Rejects all options that can be checked without reading files or computing.
void validate(const ConvertOptions& options) {
  require_partners(options);
  std::vector<std::string> files = options.inputs;
  files.insert(files.end(), options.conversion.timbre.begin(), options.conversion.timbre.end());
  require_stdin_once(files, options.delivery.backing);
  validate(options.conversion);
  validate(options.delivery, options.conversion.score);
  validate_takes(options.outputs.takes, options.conversion.play);
}

void validate_stream(const ConvertOptions& options, std::FILE* file) {
  validate(options);
  require_no_terminal(file, "the stream");
  const DeliveryOptions& delivery = options.delivery;
  const OutputOptions& outputs = options.outputs;
  if (!delivery.loop && delivery.backing.empty() && outputs.takes == 1 && outputs.output.empty() &&
      outputs.format == SoundFormat::kWav && outputs.picture.empty() &&
      delivery.sound.bits != Bits::k24 && options.inputs.size() == 1) {
    return;
  }
  fail(ExitCode::kUsage,
       "--stream writes wav, takes one recording, 16 bits or float, and no -o, --takes, --loop, "
       "--backing, --picture or --json",
       "hum generate hum.wav --preset violin --stream | aplay");
}

Converted with_fault(const Conversion& recording) {
  const std::string input = audio::name_of(recording.plan.input);
  try {
    std::rethrow_exception(recording.fault);
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool is_named = what.find(input) != std::string::npos;
    return {
        {{"input", input}, {"error", error.message()}, {"code", static_cast<int>(error.code())}},
        (is_named ? "" : input + ": ") + what};
  }
}

}  // namespace

ConvertSummary convert(const ConvertOptions& options,
                       const std::function<void(const Converted&)>& done) {
  validate(options);
  DeliveryOptions delivery = options.delivery;
  delivery.on_stdout = options.outputs.format;
  Converter converter(options.conversion);
  const auto& timbre = options.conversion.timbre;
  std::vector<std::filesystem::path> kept(timbre.begin(), timbre.end());
  kept.emplace_back(delivery.backing);
  const PlannedOutputs outputs =
      plan_outputs(options.inputs, options.outputs, converter.instrument_name(), kept);
  const auto& plans = outputs.plans;
  for (const auto& plan : plans) {
    require_holds(format_name(plan.sounds[0], delivery.on_stdout), delivery.sound);
  }
  std::optional<audio::AudioBuffer> backing;
  if (!delivery.backing.empty()) {
    backing = decode::read_audio(delivery.backing, options.conversion.max_seconds);
  }
  const bool is_only = plans.size() == 1;
  if (!is_only) converter.prepare();  // an error here is an error of all recordings
  ConvertSummary summary{.recordings = plans.size()};
  auto take = [&](const Conversion& recording) {
    if (!recording.fault) {
      done({conversion_report(recording.plan, converter, recording.hearing, recording.played,
                              recording.takes, recording.watch.laps()),
            ""});
      return;
    }
    if (is_only) std::rethrow_exception(recording.fault);
    const Converted faulty = with_fault(recording);
    if (summary.faults++ == 0) summary.exit_code = faulty.report["code"];
    done(faulty);
  };
  BatchConversion(delivery, converter, backing, plans, take).run();
  return summary;
}

StreamTimes convert_to_stream(const ConvertOptions& options, std::FILE* file) {
  validate_stream(options, file);
  Converter converter(options.conversion);
  Stopwatch watch;
  const std::string& midi = options.outputs.midi;
  if (!midi.empty()) pipeline::require_output(midi, {".mid", ".midi", ".csv", ".json"});
  const Hearing hearing = converter.listen(options.inputs[0], watch);
  const auto& notes = hearing.score.notes;
  if (!midi.empty()) write_melody(midi, converter, hearing.score, notes);
  const SoundOptions& sound = options.delivery.sound;
  const int rate_hz = sound.rate(), channels = converter.channels();
  const int written = std::max(channels, sound.channels());
  WavStream out(file, rate_hz, written, sound.format());
  bool is_first = true;
  const auto sink = [&](std::span<const float> samples) {
    out.write(
        audio::widened({rate_hz, channels, {samples.begin(), samples.end()}}, written).samples);
    if (is_first && !samples.empty()) watch.lap("first_sound");
    is_first = is_first && samples.empty();
  };
  pipeline::StreamFinisher finisher(notes, rate_hz, sink, channels);
  converter.stream(notes, [&](std::span<const float> samples) { finisher.push(samples); });
  finisher.finish();
  watch.lap("rest");
  const Json laps = watch.laps();
  const double first = laps["first_sound"];
  const double before =
      laps["read"].get<double>() + laps["load"].get<double>() + laps["melody"].get<double>();
  return {first, before + first, out.seconds(), laps["total"]};
}

}  // namespace hum::app
