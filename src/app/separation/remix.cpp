#include "app/separation/remix.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/play/batch_conversion.h"
#include "app/play/conversion_report.h"
#include "app/play/recordings.h"
#include "app/separation/remixed_song.h"
#include "app/separation/song_separator.h"
#include "app/separation/stem_outputs.h"
#include "audio/sound_blocks.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "data/synthesis/timing.h"
#include "decode/read.h"
#include "pipeline/generate.h"
#include "pipeline/picture.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// The gate of EBU R 128: nothing below it is loudness.
constexpr double kSilent_lufs = -70;

// Basic Pitch hears the chords; the ear would hear one of their notes.
ConversionOptions part_options(const RemixOptions& options) {
  ConversionOptions part = options.part;
  part.hum.polyphonic = part.hum.polyphonic || options.stem == "chordal";
  return part;
}

PlannedOutputs planned_outputs(const RemixOptions& options, const Converter& converter) {
  if (is_folder(options.input)) {
    fail(ExitCode::kNoInput, options.input + ": is a folder", "hum remix takes one song");
  }
  const auto& timbre = options.part.timbre;
  PlannedOutputs planned =
      plan_outputs({options.input}, options.outputs, converter.instrument_name(),
                   {timbre.begin(), timbre.end()});
  require_holds(format_name(planned.plans[0].sounds[0], options.outputs.format), options.sound);
  return planned;
}

// What is wrong with a recording. After the semicolon such warnings say how to record better.
std::string without_advice(const std::string& warning) {
  return warning.substr(0, warning.find("; "));
}

std::shared_ptr<const StemModels> load(const RemixOptions& options) {
  return std::make_shared<const StemModels>(
      StemModelOptions{.weights = options.part.weights,
                       .vocals = options.vocals,
                       .only_vocals = options.stem == "vocals",
                       .vocals_command = "hum remix SONG --stem vocals --vocals spleeter",
                       .spleeter = options.spleeter});
}

class Remix {
 public:
  Remix(const RemixOptions& options, const PerformanceEvents& events, Converter& converter,
        OutputPlan plan)
      : options_(options),
        progress_(events.progress),
        heard_(events.heard),
        converter_(converter),
        plan_(std::move(plan)),
        song_(options.input, options.part.max_seconds),
        reader_(song_.path(), options.part.max_seconds) {
    converter_.set_hear_progress([this](double done) { progress_("hear", done); });
    converter_.set_progress(
        [this](int64_t done, int64_t total) { progress_("play", share_of(done, total)); });
  }

  Json run() {
    const fs::path name = format_name(plan_.sounds[0], options_.outputs.format);
    audio::require_format(name, reader_.rate_hz(), reader_.channels(), options_.sound.format());
    audio::require_length(name, reader_.channels(), options_.sound.format(), reader_.frames());
    watch_.lap("read");
    converter_.prepare();  // what is missing fails before the song is separated
    watch_.lap("load");
    RemixedSong song(plan_.sounds[0], reader_.rate_hz(), reader_.channels());
    separate(song);
    watch_.lap("separate");
    const Hearing hearing = hear(song);
    heard_(heard_report(song.seconds(), hearing, hearing.score.notes));
    watch_.lap("melody");
    play(song, hearing.score.notes);
    watch_.lap("generate");
    write(song, hearing.score);
    watch_.lap("write");
    return report(song, hearing);
  }

 private:
  std::string stem_name() const {
    return fmt::format("the stem {} of {}", options_.stem, audio::name_of(plan_.input));
  }
  std::string remedy() const {
    const std::string& hint = options_.listen_hint;
    return (hint.empty() ? "hum separate SONG --two-stems " + options_.stem : hint) +
           " lets you hear it; --stem names another one";
  }

  void separate(RemixedSong& song) {
    const auto models = options_.stem_models ? options_.stem_models : load(options_);
    vocals_ = models->vocals();
    SongSeparator separator(*models, reader_.rate_hz(), reader_.channels());
    const auto& stems = separator.stems();
    const auto own = static_cast<size_t>(std::ranges::find(stems, options_.stem) - stems.begin());
    std::vector<size_t> rest;
    for (size_t i = 0; i < stems.size(); ++i) {
      if (i != own || options_.keep) rest.push_back(i);
    }
    separate_song(
        reader_, separator,
        [&](const auto& sounds) { song.add(sounds[own], sum_of(sounds, rest)); },
        [&](int64_t frames) {
          progress_("separate", share_of(frames, reader_.frames().value_or(0)));
        });
  }

  Hearing hear(RemixedSong& song) {
    if (song.seconds() < pipeline::kMinRecording_s) {
      fail(ExitCode::kBadData,
           fmt::format("{}: only {:.2f} s long, too short for a melody",
                       audio::name_of(plan_.input), song.seconds()),
           fmt::format("use at least {} s", pipeline::kMinRecording_s));
    }
    if (!(song.stem_lufs() > kSilent_lufs)) {
      fail(ExitCode::kBadData, stem_name() + " is silent", remedy());
    }
    const bool hears_all = converter_.options().hum.polyphonic;
    progress_("hear", 0);
    Hearing hearing = converter_.listen(
        {song.heard(), song.seconds(), {}},
        /*stays_in_time=*/true, stem_name(),
        remedy() + (hears_all ? "" : ", and --polyphonic hears several notes at a time"));
    auto& warnings = hearing.melody.warnings;
    for (std::string& warning : warnings) warning = without_advice(warning);
    const auto& timbre = converter_.timbre_warnings();
    warnings.insert(warnings.begin(), timbre.begin(), timbre.end());
    return hearing;
  }

  void play(RemixedSong& song, const std::vector<audio::Note>& notes) {
    auto samples = converter_.play(notes);
    const int channels = converter_.channels();
    // The last note ends with the song, at the latest.
    const auto longest = static_cast<size_t>(data::sample_of(song.seconds()) * channels);
    samples.resize(std::min(samples.size(), longest));
    auto part = pipeline::finish(
        std::move(samples), pipeline::end_of(notes),
        {.rate_hz = song.rate_hz(), .sound_channels = channels, .channels = channels});
    song.place(std::move(part), options_.gain_db);
  }

  void write(RemixedSong& song, const pipeline::Score& score) {
    const auto write_to = [&](const fs::path& file) {
      gain_db_ = song.write(file, options_.sound.format(),
                            [this](double done) { progress_("write", done); });
    };
    if (is_standard_stream(plan_.sounds[0])) {
      write_to_stdout(to_name(options_.outputs.format), "the sound", write_to);
    } else {
      write_to(plan_.sounds[0]);
    }
    if (!plan_.midi.empty()) write_melody(plan_.midi, converter_, score, score.notes);
    if (!plan_.pictures.empty()) {
      pipeline::write_picture(plan_.pictures[0], score.notes, song.part());
    }
    progress_("write", 1);
  }

  Json report(const RemixedSong& song, const Hearing& hearing) const {
    const Json takes = {{{"output", plan_.sounds[0].string()},
                         {"seed", converter_.seed_of(0)},
                         {"audio_seconds", song.seconds()}}};
    Json report =
        conversion_report(plan_, converter_, hearing, hearing.score.notes, takes, watch_.laps());
    report.update(Json{{"stem", options_.stem},
                       {"vocals", std::string(to_name(vocals_))},
                       {"keep", options_.keep},
                       {"rate_hz", song.rate_hz()},
                       {"channels", song.channels()},
                       {"stem_lufs", song.stem_lufs()},
                       {"gain_db", gain_db_}});
    return report;
  }

  const RemixOptions& options_;
  const std::function<void(std::string_view stage, double done)>& progress_;
  const std::function<void(const Json& report)>& heard_;
  Converter& converter_;
  OutputPlan plan_;
  Stopwatch watch_;
  const decode::ReadableFile song_;
  audio::SoundReader reader_;
  Vocals vocals_ = Vocals::kOwn;
  double gain_db_ = 0;
};

}  // namespace

void validate(const RemixOptions& options) {
  require_stem(options.stem, "--stem", /*may_be_rest=*/false);
  if (options.stem == "drums") {
    fail(ExitCode::kUsage, "--stem drums: drums play no melody",
         "the other stems are bass, vocals, lead, chordal, other");
  }
  require_gain(options.gain_db, "--gain 3 makes the part a little louder than the stem was");
  require_stdin_once(options.part.timbre, options.input);
  validate(options.part);
}

Json remix(const RemixOptions& options, const PerformanceEvents& events,
           std::shared_ptr<LoadedModels> models) {
  validate(options);
  Converter converter(part_options(options), std::move(models));
  const PlannedOutputs planned = planned_outputs(options, converter);
  return Remix(options, events, converter, planned.plans[0]).run();
}

std::string remix_text(const Json& report) {
  const std::string preset = report["preset"];
  const double gain_db = report["gain_db"];
  return fmt::format(
      "{}: {} ({:.1f} LUFS) on {}: {}{}; {:.1f} s of sound in {}\n",
      report["output"].get<std::string>(), report["stem"].get<std::string>(),
      report["stem_lufs"].get<double>(), preset.empty() ? "the timbre" : preset,
      melody_text(report),
      gain_db < 0 ? fmt::format("; all {:.1f} dB softer, so that it does not clip", -gain_db) : "",
      report["audio_seconds"].get<double>(),
      format_duration(report["seconds"]["total"].get<double>()));
}

}  // namespace hum::app
