#include "app/play/arrange.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "app/play/recordings.h"
#include "audio/midi.h"
#include "audio/resample.h"
#include "base/files.h"
#include "base/log.h"
#include "base/names.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/timing.h"
#include "pipeline/generate.h"
#include "pipeline/loop.h"
#include "pipeline/mix_down.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using audio::Note;

// Loudness relative to the lead.
constexpr double kBassLevel_db = -4, kChordLevel_db = -8, kDrumLevel_db = -7;

fs::path sound_path(const ArrangeOptions& options, const std::string& name) {
  return fs::path(options.output) / (name + "." + std::string(to_name(options.format)));
}

void require_outputs(const ArrangeOptions& options) {
  std::set<fs::path> read = {real_path(options.input)};
  for (const auto& file : options.lead.timbre) read.insert(real_path(file));
  for (const char* name : {"lead", "bass", "chords", "drums", "mix"}) {
    const fs::path sound = sound_path(options, name);
    require_holds(sound, options.sound);
    require_not_read(sound, read);
    require_writable(sound);
  }
  require_writable(fs::path(options.output) / "arrangement.mid");
}

class Arranger {
 public:
  Arranger(const ArrangeOptions& options, Converter& converter)
      : options_(options), converter_(converter) {}

  void arrange(const pipeline::Score& score) {
    tempo_ = *score.tempo;
    key_ = score.key ? *score.key : score.heard_key->key;
    const auto bars = pipeline::loop_of(score.notes, tempo_, options_.beats_per_bar).bars;
    chords_ = pipeline::harmonise(score.notes, key_, tempo_, options_.beats_per_bar, bars);
    band_ = pipeline::accompany(chords_, tempo_, options_.beats_per_bar, options_.style);
    lead_ = score.notes;
  }

  std::vector<pipeline::Part> parts() {
    std::vector<pipeline::Part> parts;
    parts.push_back({"lead", delivered(converter_.play(lead_), converter_.channels()), 0});
    data::FluidRenderer font;
    auto add = [&](const char* name, const std::vector<Note>& notes, int program, double level_db) {
      const double seconds = pipeline::end_of(notes) + pipeline::kMaxRelease_s;
      parts.push_back({name, delivered(font.render(notes, program, seconds), 1), level_db});
    };
    add("bass", band_.bass, band_.bass_program, kBassLevel_db);
    add("chords", band_.chords, band_.chord_program, kChordLevel_db);
    add("drums", band_.drums, data::kDrumKit, kDrumLevel_db);
    return parts;
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
    for (const auto& chord : chords_) names.push_back(pipeline::chord_name(chord, key_));
    return names;
  }

 private:
  // All parts have the lead's channels, or the requested ones.
  audio::AudioBuffer delivered(std::vector<float> samples, int channels) const {
    pipeline::require_finite(samples);
    pipeline::fade_end(samples, channels);
    auto sound =
        audio::resample({data::kSampleRate, channels, std::move(samples)}, options_.sound.rate());
    return audio::widened(std::move(sound),
                          std::max(options_.sound.channels(), converter_.channels()));
  }

  const ArrangeOptions& options_;
  Converter& converter_;
  pipeline::Tempo tempo_;
  pipeline::Key key_;
  std::vector<pipeline::Chord> chords_;
  pipeline::Accompaniment band_;
  std::vector<Note> lead_;
};

}  // namespace

void validate(const ArrangeOptions& options) {
  if (options.lead.score.tempo == "off") {
    fail(ExitCode::kUsage, "an arrangement needs a tempo, but --tempo is off", "--tempo auto");
  }
  require_stdin_once(options.lead.timbre, options.input);
  validate(options.lead);
  validate(options.sound);
  if (options.output.empty())
    fail(ExitCode::kUsage, "no output folder was given", "-o arrangement");
  if (options.beats_per_bar != 3 && options.beats_per_bar != 4) {
    fail(ExitCode::kUsage, fmt::format("--beats {} is neither 3 nor 4", options.beats_per_bar),
         "--beats 3 for a waltz, else --beats 4");
  }
}

Json arrange(const ArrangeOptions& options) {
  validate(options);
  Converter converter(options.lead);
  const OutputFolder folder(options.output);
  require_outputs(options);
  Stopwatch watch;
  const Hearing hearing = converter.listen(options.input, watch);
  return arrange(options, converter, hearing, watch);
}

Json arrange(const ArrangeOptions& options, Converter& converter, const Hearing& hearing,
             Stopwatch& watch) {
  if (!hearing.score.tempo) {
    fail(ExitCode::kBadData, "no steady tempo was found for the band to follow",
         "give it, such as --tempo 100, or hum to a click");
  }
  if (!hearing.score.key && !hearing.score.heard_key) {
    fail(ExitCode::kBadData, "the melody has too few notes to find a key for the band",
         "give it, such as --key C:major");
  }
  Arranger arranger(options, converter);
  arranger.arrange(hearing.score);
  auto parts = arranger.parts();
  watch.lap("generate");
  const auto mix = pipeline::mix_down(parts);
  for (const auto& part : parts) {
    audio::write_audio(sound_path(options, part.name), part.sound, options.sound.format());
  }
  audio::write_audio(sound_path(options, "mix"), mix, options.sound.format());
  write_file(fs::path(options.output) / "arrangement.mid", arranger.midi());
  watch.lap("write");
  return {{"output", options.output},
          {"tempo_bpm", hearing.score.tempo_bpm()},
          {"first_beat", hearing.score.first_beat_s()},
          {"key", pipeline::key_name(arranger.key())},
          {"chords", arranger.chord_names()},
          {"audio_seconds", mix.seconds()},
          {"warnings", hearing.melody.warnings},
          {"seconds", watch.laps()}};
}

std::string arrangement_text(const Json& report) {
  const auto chords = report["chords"].get<std::vector<std::string>>();
  return fmt::format("{}: {:.0f} beats per minute, {}, {}: {}; {:.1f} s of sound in {}\n",
                     report["output"].get<std::string>(), report["tempo_bpm"].get<double>(),
                     report["key"].get<std::string>(), counted(std::ssize(chords), "bar"),
                     fmt::join(chords, " "), report["audio_seconds"].get<double>(),
                     format_duration(report["seconds"]["total"].get<double>()));
}

}  // namespace hum::app
