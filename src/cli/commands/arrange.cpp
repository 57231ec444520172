// hum arrange: a hummed melody as a small band plays it: lead, bass, chords and drums.
#include <fmt/ranges.h>

#include <iostream>
#include <set>

#include "app/play/converter.h"
#include "app/play/outputs.h"
#include "audio/midi.h"
#include "audio/resample.h"
#include "base/files.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/timing.h"
#include "pipeline/accompaniment.h"
#include "pipeline/generate.h"
#include "pipeline/loop.h"
#include "pipeline/recording.h"
#include "pipeline/stems.h"

namespace hum::cli {
namespace {

namespace fs = std::filesystem;
using audio::Note;

// Loudness against the lead.
constexpr double kBassLevel_db = -4, kChordLevel_db = -8, kDrumLevel_db = -7;

struct ArrangeArgs {
  std::string input, output;
  app::ConversionOptions performance;
  app::SoundOptions sound;
  pipeline::Style style = pipeline::Style::kPop;
  int64_t beats_per_bar = 4;
  app::SoundFormat format = app::SoundFormat::kWav;
  bool json = false;

  ArrangeArgs() { performance.score.snap = "1"; }  // the band keeps time, so the lead must

  template <class V>
  void declare(V& v) {
    v.positional("input", input, "a recording of a hummed or sung melody: wav, flac, ogg or mp3");
    v.short_flag('o', "output", output, "folder for the stems, the mix and the MIDI file");
    v("style", style, "what the band plays");
    v("beats", beats_per_bar, "beats of a bar: 3 or 4");
    v("format", format, "of the sounds");
    performance.visit_fields(v);
    sound.visit_fields(v);
    v("json", json, "print a report as JSON");
  }
};

void validate(const ArrangeArgs& args) {
  validate(args.performance);
  validate(args.sound);
  if (args.output.empty()) fail(ExitCode::kUsage, "no folder was named", "-o arrangement");
  if (args.beats_per_bar != 3 && args.beats_per_bar != 4) {
    fail(ExitCode::kUsage,
         fmt::format("--beats {}: the band plays bars of 3 or 4", args.beats_per_bar),
         "--beats 3 is a waltz");
  }
  if (args.performance.score.tempo == "off") {
    fail(ExitCode::kUsage, "a band needs a tempo, and --tempo is off", "--tempo auto");
  }
}

// A name and where it goes; written when all are made.
fs::path sound_path(const ArrangeArgs& args, const std::string& name) {
  return fs::path(args.output) / (name + "." + std::string(to_name(args.format)));
}

void require_folder(const ArrangeArgs& args) {
  create_folder(args.output);
  const std::set<fs::path> read = {fs::weakly_canonical(args.input),
                                   fs::weakly_canonical(args.performance.timbre)};
  for (const char* name : {"lead", "bass", "chords", "drums", "mix"}) {
    const fs::path sound = sound_path(args, name);
    app::require_holds(sound, args.sound);
    app::require_not_read(sound, read);
    require_writable(sound);
  }
  require_writable(fs::path(args.output) / "arrangement.mid");
}

class Arranger {
 public:
  Arranger(const ArrangeArgs& args, app::Converter& converter)
      : args_(args), converter_(converter) {}

  void arrange(const pipeline::Score& score) {
    tempo_ = *score.tempo;
    key_ = score.key.value_or(score.heard_key.key);
    const auto bars = pipeline::loop_of(score.notes, tempo_, args_.beats_per_bar).bars;
    chords_ = pipeline::harmonise(score.notes, key_, tempo_, args_.beats_per_bar, bars);
    band_ = pipeline::accompany(chords_, tempo_, args_.beats_per_bar, args_.style);
    lead_ = score.notes;
  }

  std::vector<pipeline::Stem> stems() {
    std::vector<pipeline::Stem> stems;
    stems.push_back({"lead", delivered(converter_.play(lead_), converter_.channels()), 0});
    data::FluidRenderer font;
    auto add = [&](const char* name, const std::vector<Note>& notes, int program, double level_db) {
      const double seconds = pipeline::end_of(notes) + pipeline::kMaxRelease_s;
      stems.push_back({name, delivered(font.render(notes, program, seconds), 1), level_db});
    };
    add("bass", band_.bass, band_.bass_program, kBassLevel_db);
    add("chords", band_.chords, band_.chord_program, kChordLevel_db);
    add("drums", band_.drums, data::kDrumKit, kDrumLevel_db);
    return stems;
  }

  std::string midi() const {
    const std::vector<audio::MidiPart> parts = {
        {.channel = 0, .program = converter_.program(), .name = "lead", .notes = lead_},
        {.channel = 1, .program = band_.bass_program, .name = "bass", .notes = band_.bass},
        {.channel = 2, .program = band_.chord_program, .name = "chords", .notes = band_.chords},
        {.channel = audio::kDrumChannel, .name = "drums", .notes = band_.drums}};
    return audio::format_midi_song(parts, {.tempo_bpm = tempo_.bpm,
                                           .first_beat_s = tempo_.first_beat_s,
                                           .key = pipeline::key_signature(key_)});
  }

  const pipeline::Key& key() const { return key_; }
  std::vector<std::string> chord_names() const {
    std::vector<std::string> names;
    for (const auto& chord : chords_) names.push_back(pipeline::chord_name(chord));
    return names;
  }

 private:
  // All stems have the lead's channels, or those that were asked for.
  audio::AudioBuffer delivered(std::vector<float> samples, int channels) const {
    pipeline::fade_end(samples, channels);
    auto sound =
        audio::resample({data::kSampleRate, channels, std::move(samples)}, args_.sound.rate());
    return audio::widened(std::move(sound),
                          std::max(args_.sound.channels(), converter_.channels()));
  }

  const ArrangeArgs& args_;
  app::Converter& converter_;
  pipeline::Tempo tempo_;
  pipeline::Key key_;
  std::vector<pipeline::Chord> chords_;
  pipeline::Accompaniment band_;
  std::vector<Note> lead_;
};

int arrange(ArrangeArgs& args) {
  validate(args);
  app::Converter converter(args.performance);
  require_folder(args);
  app::Stopwatch watch;
  const app::Hearing hearing = converter.listen(args.input, watch);
  if (!hearing.score.tempo) {
    fail(ExitCode::kBadData, "no steady tempo was heard, so a band cannot follow",
         "give the tempo with --tempo BPM, or hum to a click");
  }
  Arranger arranger(args, converter);
  arranger.arrange(hearing.score);
  auto stems = arranger.stems();
  watch.lap("generate");
  const auto mix = pipeline::mix_down(stems);
  for (const auto& stem : stems) {
    audio::write_audio(sound_path(args, stem.name), stem.sound, args.sound.format());
  }
  audio::write_audio(sound_path(args, "mix"), mix, args.sound.format());
  write_file(fs::path(args.output) / "arrangement.mid", arranger.midi());
  watch.lap("write");

  const auto chords = arranger.chord_names();
  if (args.json) {
    print_json({{"output", args.output},
                {"tempo_bpm", hearing.score.tempo_bpm()},
                {"first_beat", hearing.score.first_beat_s()},
                {"key", pipeline::key_name(arranger.key())},
                {"chords", chords},
                {"audio_seconds", mix.seconds()},
                {"warnings", hearing.melody.warnings},
                {"seconds", watch.laps()}});
    return 0;
  }
  std::cout << fmt::format(
      "{}: {:.0f} beats a minute, {}, {} bars: {}; {:.1f} s of sound in {}\n", args.output,
      hearing.score.tempo_bpm(), pipeline::key_name(arranger.key()), chords.size(),
      fmt::join(chords, " "), mix.seconds(), format_duration(watch.laps()["total"].get<double>()));
  return 0;
}

}  // namespace

const Command kArrange = {
    "arrange", "a band under a hummed melody: stems, mix and MIDI",
    "hum arrange examples/vocadito_10.wav --preset flute --tempo 90 -o arrangement",
    make_command<ArrangeArgs, arrange>};

}  // namespace hum::cli
