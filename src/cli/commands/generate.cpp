// hum generate: hummed melodies on an instrument.
#include <iostream>
#include <optional>

#include "audio/notes.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "cli/outputs.h"
#include "cli/performer.h"
#include "cli/stop.h"
#include "cli/wav_stream.h"
#include "pipeline/picture.h"
#include "pipeline/recording.h"
#include "pipeline/stream.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> inputs;
  OutputOptions outputs;
  PerformanceOptions performance;
  SoundOptions sound;
  std::string backing;
  double gain_db = 0;
  bool loop = false, stream = false, json = false;
  int64_t beats_per_bar = 4;

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
    v("loop", loop, "whole bars that repeat without a seam, from the first beat on");
    v("beats", beats_per_bar, "beats of a bar, for --loop");
    v("backing", backing, "a song to mix the melody into, from the same start");
    v("gain", gain_db, "how much louder than the backing the melody is, in dB");
    v("stream", stream, "a wav on stdout while it is made; -o is not needed");
    sound.visit_fields(v);
    v("json", json, "print a report as JSON; for several recordings a list");
  }
};

// Everything that can be refused without reading or computing.
void validate(const Args& args) {
  validate(args.performance);
  validate(args.sound);
  if (args.beats_per_bar < 1 || args.beats_per_bar > 32) {
    fail(ExitCode::kUsage, fmt::format("--beats {} is outside 1..32", args.beats_per_bar),
         "--beats 3 is a waltz");
  }
  if (!(args.gain_db >= -60 && args.gain_db <= 60)) {
    fail(ExitCode::kUsage, fmt::format("--gain {} is outside -60..60", args.gain_db),
         "--gain 3 is a little louder than the backing");
  }
  if (args.gain_db != 0 && args.backing.empty()) {
    fail(ExitCode::kUsage, "--gain is the melody's level over a --backing", "--backing song.wav");
  }
  if (args.loop && !args.backing.empty()) {
    fail(ExitCode::kUsage, "--loop and --backing exclude each other", "mix the loop yourself");
  }
  if (args.loop && args.performance.score.tempo == "off") {
    fail(ExitCode::kUsage, "--loop is a number of bars, and --tempo is off", "--tempo auto");
  }
  const bool more = args.loop || !args.backing.empty() || args.json || args.outputs.takes != 1 ||
                    !args.outputs.output.empty() || !args.outputs.picture.empty() ||
                    args.sound.bits == Bits::k24 || args.inputs.size() != 1;
  if (args.stream && more) {
    fail(ExitCode::kUsage,
         "--stream writes one recording to stdout, in 16 bits or float, with no -o, --takes, "
         "--loop, --backing, --picture or --json",
         "hum generate hum.wav --preset violin --stream | aplay");
  }
}

std::optional<pipeline::Loop> loop_for(const Args& args, const pipeline::Score& score) {
  if (!args.loop) return std::nullopt;
  if (!score.tempo) {
    fail(ExitCode::kBadData, "no steady tempo was heard, so there are no bars for --loop",
         "give the tempo with --tempo BPM");
  }
  return pipeline::loop_of(score.notes, *score.tempo, args.beats_per_bar);
}

void write_midi(const Args& args, const Performer& performer, const std::filesystem::path& path,
                const pipeline::Score& score, std::span<const audio::Note> notes) {
  audio::write_notes(path, notes,
                     {.tempo_bpm = score.tempo_bpm(),
                      .first_beat_s = args.loop ? 0 : score.first_beat_s(),
                      .multiple_pitch_bends = args.performance.notes.multiple_pitch_bends,
                      .program = performer.program(),
                      .key = score.signature()});
}

Json report_of(const OutputPlan& plan, const Args& args, const Performer& performer,
               const Hearing& hearing, std::span<const audio::Note> played, const Json& takes,
               const Stopwatch& watch) {
  const auto& [melody, score] = hearing;
  const runtime::Counters counters = performer.counters();
  Json notes = Json::array();
  for (const auto& note : played) {
    notes.push_back({{"start", note.start_s},
                     {"end", note.end_s},
                     {"pitch", note.pitch},
                     {"amplitude", note.amplitude},
                     {"bends", note.bends}});
  }
  return {{"input", plan.input.string()},
          {"output", takes[0]["output"]},
          {"preset", args.performance.preset},
          {"timbre", args.performance.timbre},
          {"audio_seconds", takes[0]["audio_seconds"]},
          {"takes", takes},
          {"octave", melody.octave},
          {"transpose", args.performance.hum.transpose},
          {"tuning_cents", melody.tuning_cents},
          {"tempo_bpm", score.tempo ? Json(score.tempo->bpm) : Json()},
          {"first_beat", score.first_beat_s()},
          {"tempo_confidence", score.tempo ? score.tempo->confidence : 0},
          {"stretch", score.stretch},
          {"heard_key", pipeline::key_name(score.heard_key.key)},
          {"key_margin", score.heard_key.margin},
          {"moved_to_key", score.moved_to_key},
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

// One recording from file to files.
Json perform(const OutputPlan& plan, const Args& args, Performer& performer,
             const std::optional<audio::AudioBuffer>& backing) {
  Stopwatch watch;
  const Hearing hearing = performer.listen(plan.input, watch, backing.has_value());
  const auto& score = hearing.score;
  const auto loop = loop_for(args, score);
  const auto played = loop ? pipeline::wrap_notes(score.notes, *loop) : score.notes;
  Json takes = Json::array();
  for (size_t take = 0; take < plan.sounds.size(); ++take) {
    auto samples = performer.play(score.notes, static_cast<int64_t>(take));
    watch.lap("generate");
    auto sound = pipeline::finish(
        std::move(samples), pipeline::end_of(score.notes),
        {.rate_hz = args.sound.rate(), .channels = args.sound.channels(), .loop = loop});
    if (!plan.pictures.empty()) pipeline::write_picture(plan.pictures[take], played, sound);
    if (backing) sound = pipeline::with_backing(std::move(sound), *backing, args.gain_db);
    audio::write_audio(plan.sounds[take], sound, args.sound.format());
    takes.push_back({{"output", plan.sounds[take].string()},
                     {"seed", performer.seed_of(static_cast<int64_t>(take))},
                     {"audio_seconds", sound.seconds()}});
    watch.lap("write");
  }
  if (!plan.midi.empty()) write_midi(args, performer, plan.midi, score, played);
  watch.lap("write");
  return report_of(plan, args, performer, hearing, played, takes, watch);
}

void print(const Json& report) {
  const int octave = report["octave"];
  const double cents = report["tuning_cents"];
  std::string line = fmt::format("{} notes", report["notes"].size());
  line += octave == 0 ? ", in its own octave"
                      : fmt::format(", {} octave{} {}", std::abs(octave),
                                    std::abs(octave) == 1 ? "" : "s", octave > 0 ? "up" : "down");
  if (cents != 0) {
    line +=
        fmt::format(", {:.0f} cents {} taken out", std::abs(cents), cents > 0 ? "sharp" : "flat");
  }
  if (!report["tempo_bpm"].is_null()) {
    line += fmt::format(", {:.0f} beats a minute", report["tempo_bpm"].get<double>());
  }
  line += ", " + report["heard_key"].get<std::string>();
  const bool several = report["takes"].size() > 1;
  for (const Json& take : report["takes"]) {
    const std::string seed = fmt::format("seed {}, ", take["seed"].get<int64_t>());
    std::cout << fmt::format("{}: {}{}; {:.1f} s of sound in {}\n",
                             take["output"].get<std::string>(), several ? seed : "", line,
                             take["audio_seconds"].get<double>(),
                             format_duration(report["seconds"]["total"].get<double>()));
  }
}

// What goes wrong with one recording does not stop the others. Returns the exit code of the first
// fault.
int perform_all(const std::vector<OutputPlan>& plans, const Args& args, Performer& performer,
                const std::optional<audio::AudioBuffer>& backing) {
  Json reports = Json::array();
  int code = 0;
  size_t faults = 0;
  for (const OutputPlan& plan : plans) {
    try {
      reports.push_back(perform(plan, args, performer, backing));
      if (!args.json) print(reports.back());
    } catch (const Error& error) {
      if (stop_signal() != 0) throw;
      const std::string what = error.what();
      const bool is_named = what.find(plan.input.string()) != std::string::npos;
      std::cerr << "hum: error: " << (is_named ? "" : plan.input.string() + ": ") << what << '\n';
      reports.push_back({{"input", plan.input.string()},
                         {"error", error.message()},
                         {"code", static_cast<int>(error.code())}});
      if (code == 0) code = static_cast<int>(error.code());
      ++faults;
    }
  }
  if (args.json) std::cout << reports.dump() << '\n';
  std::cerr << fmt::format("{} of {} recordings were played\n", plans.size() - faults,
                           plans.size());
  return code;
}

int stream(const Args& args, Performer& performer) {
  Stopwatch watch;
  if (!args.outputs.midi.empty()) {
    pipeline::require_output(args.outputs.midi, {".mid", ".midi", ".csv", ".json"});
  }
  const Hearing hearing = performer.listen(args.inputs[0], watch);
  const auto& notes = hearing.score.notes;
  if (!args.outputs.midi.empty()) {
    write_midi(args, performer, args.outputs.midi, hearing.score, notes);
  }
  WavStream out(stdout, args.sound.rate(), args.sound.channels(), args.sound.format());
  bool is_first = true;
  pipeline::StreamFinisher finisher(pipeline::end_of(notes), args.sound.rate(),
                                    [&](std::span<const float> samples) {
                                      out.write(samples);
                                      if (is_first && !samples.empty()) watch.lap("first_sound");
                                      is_first = is_first && samples.empty();
                                    });
  performer.stream(notes, [&](std::span<const float> samples) { finisher.push(samples); });
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
  Performer performer(args.performance);
  if (args.stream) return stream(args, performer);
  const auto plans = plan_outputs(args.inputs, args.outputs, performer.instrument_name());
  std::optional<audio::AudioBuffer> backing;
  if (!args.backing.empty()) {
    backing = audio::read_audio(args.backing, args.performance.max_seconds);
  }
  if (plans.size() > 1) return perform_all(plans, args, performer, backing);
  const Json report = perform(plans[0], args, performer, backing);
  if (args.json) {
    std::cout << report.dump() << '\n';
  } else {
    print(report);
  }
  return 0;
}

}  // namespace

const Command kGenerate = {
    "generate", "play hummed melodies on an instrument",
    "hum generate examples/vocadito_10.wav --preset violin -o violin.wav --midi melody.mid",
    make_command<Args, run>};

}  // namespace hum::cli
