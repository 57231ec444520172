#include "app/play/performance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/play/conversion_report.h"
#include "app/play/wav_stream.h"
#include "audio/notes.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "data/synthesis/timing.h"
#include "decode/read.h"
#include "pipeline/generate.h"
#include "pipeline/stream.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

double seconds_of(const MelodySource& source, std::span<const audio::Note> played) {
  return source.recording ? source.recording->seconds : pipeline::end_of(played);
}

// Without an instrument, and so without a range.
pipeline::HumMelody heard_melody(const MelodySource& source, const ConversionOptions& options,
                                 LoadedModels& models, const PerformanceEvents& events) {
  if (!source.notes.empty()) return pipeline::given_melody(source.notes, options.hum, std::nullopt);
  const auto& recording = *source.recording;
  auto hear =
      models.hear(options.notes, options.hum, [&](double done) { events.progress("hear", done); });
  auto melody = pipeline::read_melody(recording.samples, hear, options.hum, std::nullopt);
  melody.warnings.insert(melody.warnings.begin(), recording.warnings.begin(),
                         recording.warnings.end());
  return melody;
}

// A converter that tells its progress as a part of the stage "play".
class Player {
 public:
  Player(const PerformanceOptions& options, const MelodySource& source,
         const std::shared_ptr<LoadedModels>& models, const PerformanceEvents& events)
      : options_(options), source_(source), events_(events), converter(options.conversion, models) {
    converter.set_progress([this](int64_t done, int64_t total) {
      events_.progress("play", from_ + (to_ - from_) * static_cast<double>(done) /
                                           static_cast<double>(std::max<int64_t>(total, 1)));
    });
    converter.set_hear_progress([this](double done) { events_.progress("hear", done); });
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  Hearing hear() {
    events_.progress("hear", 0);
    const bool stays_in_time = !options_.delivery.backing.empty();
    Hearing hearing = source_.notes.empty() ? converter.listen(*source_.recording, stays_in_time)
                                            : converter.take(source_.notes, stays_in_time);
    auto& warnings = hearing.melody.warnings;
    const auto& timbre = converter.timbre_warnings();
    warnings.insert(warnings.begin(), timbre.begin(), timbre.end());
    return hearing;
  }
  // What is played next is this part of all playing.
  void plays(double from, double to) {
    from_ = from;
    to_ = to;
    events_.progress("play", from);
  }

 private:
  const PerformanceOptions& options_;
  const MelodySource& source_;
  const PerformanceEvents& events_;
  double from_ = 0, to_ = 1;

 public:
  Converter converter;
};

// Plays take 1 and hands it to the stream's reader; returns its samples.
std::vector<float> stream_take(Player& player, const pipeline::Score& score,
                               const PerformanceOptions& options, std::FILE* stream) {
  const SoundOptions& sound = options.delivery.sound;
  const int rate_hz = sound.rate(), channels = player.converter.channels();
  const int written = std::max(channels, sound.channels());
  WavStream out(stream, rate_hz, written, audio::SampleFormat::k16);
  pipeline::StreamFinisher finisher(
      score.notes, rate_hz,
      [&](std::span<const float> samples) {
        out.write(
            audio::widened({rate_hz, channels, {samples.begin(), samples.end()}}, written).samples);
      },
      channels);
  auto all = player.converter.stream_and_keep(
      score.notes, [&](std::span<const float> samples) { finisher.push(samples); },
      options.starts_early);
  finisher.finish();
  return all;
}

class Delivery {
 public:
  Delivery(const PerformanceOptions& options, const Hearing& hearing, Converter& converter,
           fs::path folder)
      : options_(options), hearing_(hearing), converter_(converter), folder_(std::move(folder)) {
    loop_ = loop_for(options.delivery, hearing.score);
    played_ = loop_ ? pipeline::wrap_notes(hearing.score.notes, *loop_) : hearing.score.notes;
    if (!options.delivery.backing.empty()) {
      backing_ = decode::read_audio(options.delivery.backing, options.conversion.max_seconds);
    }
  }

  const std::vector<audio::Note>& played() const { return played_; }
  void write_take(int64_t number, std::vector<float> samples) {
    const SoundOptions& format = options_.delivery.sound;
    auto sound = pipeline::finish(std::move(samples), pipeline::end_of(hearing_.score.notes),
                                  {.rate_hz = format.rate(),
                                   .sound_channels = converter_.channels(),
                                   .channels = format.channels(),
                                   .loop = loop_});
    if (backing_) {
      sound = pipeline::with_backing(std::move(sound), *backing_, options_.delivery.gain_db);
    }
    const std::string name = fmt::format("take-{}.{}", number + 1, to_name(options_.format));
    audio::write_audio(folder_ / name, sound, format.format());
    files_.push_back({name, sound.seconds()});
  }
  std::vector<PerformedFile> finish() {
    for (const char* name : {"melody.mid", "melody.json"}) {
      write_melody(folder_ / name, converter_, hearing_.score, played_, loop_.has_value());
      files_.push_back({name, 0});
    }
    return std::move(files_);
  }

 private:
  const PerformanceOptions& options_;
  const Hearing& hearing_;
  Converter& converter_;
  fs::path folder_;
  std::optional<pipeline::Loop> loop_;
  std::vector<audio::Note> played_;
  std::optional<audio::AudioBuffer> backing_;
  std::vector<PerformedFile> files_;
};

}  // namespace

std::vector<PerformedFile> perform_notes(const PerformanceOptions& options,
                                         const MelodySource& source, LoadedModels& models,
                                         const fs::path& folder, const PerformanceEvents& events) {
  events.progress("hear", 0);
  const ConversionOptions& conversion = options.conversion;
  Hearing hearing{heard_melody(source, conversion, models, events), {}};
  hearing.score = pipeline::make_score(hearing.melody.notes, conversion.score);
  auto& warnings = hearing.melody.warnings;
  warnings.insert(warnings.end(), hearing.score.warnings.begin(), hearing.score.warnings.end());
  const auto& notes = hearing.score.notes;
  events.heard(heard_report(seconds_of(source, notes), hearing, notes));
  events.progress("write", 0);
  std::vector<PerformedFile> files;
  const auto settings = note_file_options(hearing.score, conversion.notes);
  for (const char* name : {"melody.mid", "melody.json"}) {
    audio::write_notes(folder / name, notes, settings);
    files.push_back({name, 0});
  }
  return files;
}

std::vector<PerformedFile> perform_takes(const PerformanceOptions& options,
                                         const MelodySource& source,
                                         const std::shared_ptr<LoadedModels>& models,
                                         const fs::path& folder, std::FILE* stream,
                                         const PerformanceEvents& events) {
  Player player(options, source, models, events);
  const Hearing hearing = player.hear();
  Delivery delivery(options, hearing, player.converter, folder);
  events.heard(heard_report(seconds_of(source, delivery.played()), hearing, delivery.played()));
  const auto& score = hearing.score;
  const double share = 1.0 / static_cast<double>(options.takes);
  player.plays(0, share);
  auto first = stream_take(player, score, options, stream);
  std::vector<pipeline::Piece> others;
  for (int64_t take = 1; take < options.takes; ++take) {
    others.push_back(player.converter.piece(score.notes, take));
  }
  std::vector<std::vector<float>> sounds;
  if (!others.empty()) {
    player.plays(share, 1);
    sounds = player.converter.play(others);
  }
  events.progress("write", 0);
  delivery.write_take(0, std::move(first));
  for (size_t i = 0; i < sounds.size(); ++i) {
    events.progress("write", share * static_cast<double>(i + 1));
    delivery.write_take(static_cast<int64_t>(i) + 1, std::move(sounds[i]));
  }
  return delivery.finish();
}

std::vector<PerformedFile> perform_arrangement(const PerformanceOptions& options,
                                               const MelodySource& source,
                                               const std::shared_ptr<LoadedModels>& models,
                                               const fs::path& folder,
                                               const PerformanceEvents& events) {
  ArrangeOptions arranged;
  arranged.output = folder.string();
  arranged.lead = options.conversion;
  arranged.sound = options.delivery.sound;
  arranged.style = options.style;
  arranged.beats_per_bar = options.delivery.beats_per_bar;
  arranged.format = options.format;
  Player player(options, source, models, events);
  const Hearing hearing = player.hear();
  const auto& notes = hearing.score.notes;
  events.heard(heard_report(seconds_of(source, notes), hearing, notes));
  player.plays(0, 1);
  Stopwatch watch;
  const Json report = arrange(arranged, player.converter, hearing, watch);
  std::vector<PerformedFile> files;
  for (const char* name : {"mix", "lead", "bass", "chords", "drums"}) {
    files.push_back({fmt::format("{}.{}", name, to_name(options.format)),
                     report["audio_seconds"].get<double>()});
  }
  files.push_back({"arrangement.mid", 0});
  return files;
}

void warm_up(const std::shared_ptr<LoadedModels>& models) {
  // Long enough for the first part of a stream and the part after it.
  constexpr double kSeconds = 2, kTone_hz = 220, kLevel = 0.3;
  MelodySource source;
  source.recording.emplace();
  source.recording->seconds = kSeconds;
  for (int64_t i = 0; i < data::sample_of(kSeconds); ++i) {
    const double turn = kTone_hz * static_cast<double>(i) / data::kSampleRate;
    source.recording->samples.push_back(
        static_cast<float>(kLevel * std::sin(2 * std::numbers::pi * turn)));
  }
  models->hear({}, {})(source.recording->samples);
  source.notes.push_back({.start_s = 0, .end_s = kSeconds, .pitch = 69});
  PerformanceOptions options;
  const auto known = known_presets(models->weights());
  options.conversion.preset = (known.empty() ? data::presets().front() : *known.front()).name;
  const ScratchFolder folder;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(
      std::fopen((folder / "stream.wav").c_str(), "wb"), std::fclose);
  HUM_CHECK(stream != nullptr);
  const PerformanceEvents ignored{.heard = [](const Json&) {},
                                  .progress = [](std::string_view, double) {}};
  perform_takes(options, source, models, folder.path(), stream.get(), ignored);
  if (!models->has_language_model()) return;
  options.conversion.play.lm = true;
  perform_takes(options, source, models, folder.path(), stream.get(), ignored);
}

}  // namespace hum::app
