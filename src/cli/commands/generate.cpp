// hum generate: a hummed melody on an instrument.
#include <chrono>
#include <iostream>
#include <optional>

#include "base/log.h"
#include "cli/commands/commands.h"
#include "cli/player.h"
#include "cli/session.h"
#include "cli/stop.h"
#include "pipeline/hum_melody.h"
#include "pipeline/recording.h"

namespace hum::cli {
namespace {

enum class Bits { k16, k24, kFloat };
EnumNames<Bits> enum_names(Bits) {
  static constexpr std::pair<Bits, std::string_view> kNames[] = {
      {Bits::k16, "16"}, {Bits::k24, "24"}, {Bits::kFloat, "float"}};
  return kNames;
}

audio::SampleFormat format_of(Bits bits) {
  if (bits == Bits::k24) return audio::SampleFormat::k24;
  return bits == Bits::k16 ? audio::SampleFormat::k16 : audio::SampleFormat::kFloat;
}

struct Args {
  std::string input, output, preset, timbre, midi, weights;
  pipeline::HumOptions hum;
  PlayOptions play;
  models::basic_pitch::NoteOptions notes;
  int64_t rate_hz = 44100;
  Bits bits = Bits::k16;
  bool stereo = false, json = false;
  double max_seconds = audio::kDefaultMaxSeconds;

  template <class V>
  void declare(V& v) {
    v.positional("input", input, "a recording of a hummed or sung melody: wav, flac, ogg or mp3");
    v.short_flag('o', "output", output, "sound to write: .wav, .flac or .ogg");
    v("preset", preset, "instrument to play it on (hum presets lists them)");
    v("timbre", timbre, "or a recording of 1 to 5 s whose sound is imitated");
    v("decoder", play.decoder,
      "guided: pitch from the melody, timbre from the models; plain: the codec's own decoder");
    v("fast", play.fast, "leave out the language model: quicker, plainer");
    v("midi", midi, "also write the melody that was played: .mid, .csv or .json");
    hum.visit_fields(v);
    play.sampling.visit_fields(v);
    v("rate", rate_hz, "sample rate of the output: 22050, 44100 or 48000");
    v("bits", bits, "sample format of the output");
    v("stereo", stereo, "two equal channels");
    v("json", json, "print a report as JSON");
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", max_seconds, "longest recording to accept");
    notes.visit_fields(v);
  }
};

// Everything that can be refused without reading or computing.
void validate(const Args& args) {
  if (args.output.empty()) fail(ExitCode::kUsage, "no output was named", "-o out.wav");
  if (args.preset.empty() == args.timbre.empty()) {
    fail(ExitCode::kUsage,
         args.preset.empty() ? "neither --preset nor --timbre was given"
                             : "--preset and --timbre exclude each other",
         "--preset violin, or --timbre reference.wav");
  }
  if (args.rate_hz != 22050 && args.rate_hz != 44100 && args.rate_hz != 48000) {
    fail(ExitCode::kUsage, fmt::format("--rate {} is not offered", args.rate_hz),
         "use 22050, 44100 or 48000");
  }
  pipeline::validate(args.hum);
  models::basic_pitch::validate(args.notes);
  models::humming::validate(args.play.sampling);
  pipeline::require_output(args.output, {".wav", ".flac", ".ogg"});
  if (!args.midi.empty()) {
    pipeline::require_output(args.midi, {".mid", ".midi", ".csv", ".json"});
  }
}

// Seconds since the last call, by name.
class Stopwatch {
 public:
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    laps_[name] = std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  Json laps() const {
    Json result = laps_;
    result["total"] = std::chrono::duration<double>(last_ - start_).count();
    return result;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
  Json laps_ = Json::object();
};

std::string octave_text(const pipeline::HumMelody& melody) {
  if (melody.octave == 0) return "in its own octave";
  return fmt::format("{} octave{} {}", std::abs(melody.octave),
                     std::abs(melody.octave) == 1 ? "" : "s", melody.octave > 0 ? "up" : "down");
}

Json report_of(const Args& args, const pipeline::HumMelody& melody,
               const runtime::Counters& counters, double audio_s, const Stopwatch& watch) {
  Json notes = Json::array();
  for (const auto& note : melody.notes) {
    notes.push_back({{"start", note.start_s},
                     {"end", note.end_s},
                     {"pitch", note.pitch},
                     {"amplitude", note.amplitude},
                     {"bends", note.bends}});
  }
  return {{"output", args.output},
          {"preset", args.preset},
          {"timbre", args.timbre},
          {"audio_seconds", audio_s},
          {"octave", melody.octave},
          {"transpose", args.hum.transpose},
          {"tuning_cents", melody.tuning_cents},
          {"confidence", melody.confidence},
          {"voiced_share", melody.voiced_share},
          {"warnings", melody.warnings},
          {"seconds", watch.laps()},
          {"counters",
           {{"compiles", counters.compiles},
            {"compile_seconds", counters.compile_seconds},
            {"disk_hits", counters.disk_hits},
            {"memory_hits", counters.memory_hits}}},
          {"notes", notes}};
}

int run(Args& args) {
  validate(args);
  const data::Preset* preset = args.preset.empty() ? nullptr : &data::find_preset(args.preset);
  Stopwatch watch;
  const auto recording = pipeline::read_recording(args.input, args.max_seconds);
  watch.lap("read");

  runtime::Session session(session_options());
  Player player(session, weights_folder(args.weights));
  std::vector<std::string> warnings = recording.warnings;
  auto instrument = player.instrument(
      preset != nullptr ? player.preset_reference(*preset, warnings)
                        : player.file_reference(args.timbre, args.max_seconds, warnings),
      args.play);
  watch.lap("load");

  std::optional<pipeline::PitchRange> range;
  if (preset != nullptr) range = {preset->low, preset->high};
  auto melody =
      pipeline::read_melody(recording.samples, transcriber(session, args.notes), args.hum, range);
  melody.warnings.insert(melody.warnings.begin(), warnings.begin(), warnings.end());
  for (const auto& warning : melody.warnings) spdlog::warn(warning);
  watch.lap("melody");

  std::optional<Progress> progress;
  instrument.progress = [&](int64_t done, int64_t total) {
    if (stop_signal() != 0) fail(ExitCode::kFailure, "stopped; no output was written");
    if (!progress) progress.emplace("generating", total);
    progress->update(done);
  };
  auto samples =
      pipeline::play(melody.notes, instrument, static_cast<uint64_t>(args.play.sampling.seed));
  progress.reset();
  watch.lap("generate");
  const auto sound = pipeline::finish(
      std::move(samples), pipeline::end_of(melody.notes),
      {.rate_hz = static_cast<int>(args.rate_hz), .channels = args.stereo ? 2 : 1});
  audio::write_audio(args.output, sound, format_of(args.bits));
  if (!args.midi.empty()) {
    audio::write_notes(args.midi, melody.notes,
                       {.multiple_pitch_bends = args.notes.multiple_pitch_bends,
                        .program = preset != nullptr ? preset->program : 0});
  }
  watch.lap("write");

  if (args.json) {
    std::cout << report_of(args, melody, session.counters(), sound.seconds(), watch).dump() << '\n';
    return 0;
  }
  std::cout << fmt::format("{}: {} notes, {}", args.output, melody.notes.size(),
                           octave_text(melody));
  if (melody.tuning_cents != 0) {
    std::cout << fmt::format(", {:.0f} cents {} taken out", std::abs(melody.tuning_cents),
                             melody.tuning_cents > 0 ? "sharp" : "flat");
  }
  std::cout << fmt::format("; {:.1f} s of sound in {}\n", sound.seconds(),
                           format_duration(watch.laps()["total"].get<double>()));
  return 0;
}

}  // namespace

const Command kGenerate = {
    "generate", "play a hummed melody on an instrument",
    "hum generate examples/vocadito_10.wav --preset violin -o violin.wav --midi melody.mid",
    make_command<Args, run>};

}  // namespace hum::cli
