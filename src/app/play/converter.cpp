#include "app/play/converter.h"

#include "app/play/hearing.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "base/log.h"
#include "pipeline/recording.h"

namespace hum::app {

namespace fs = std::filesystem;

namespace {

// A stream starts with 3 s of tokens: half the wait of a full window, and long enough to compute
// the next part in time.
constexpr int64_t kQuickFrames = 150;

}  // namespace

void validate(const ConversionOptions& options) {
  if (options.preset.empty() == options.timbre.empty()) {
    fail(ExitCode::kUsage,
         options.preset.empty() ? "neither --preset nor --timbre was given"
                                : "--preset and --timbre cannot be combined",
         "--preset violin, or --timbre reference.wav");
  }
  pipeline::validate(options.hum);
  pipeline::validate(options.score);
  models::basic_pitch::validate(options.notes);
  validate(options.play);
}

audio::SampleFormat SoundOptions::format() const {
  if (bits == Bits::k24) return audio::SampleFormat::k24;
  return bits == Bits::k16 ? audio::SampleFormat::k16 : audio::SampleFormat::kFloat;
}

void validate(const SoundOptions& options) {
  if (options.rate_hz == 22050 || options.rate_hz == 44100 || options.rate_hz == 48000) return;
  fail(ExitCode::kUsage, fmt::format("--rate {} is not supported", options.rate_hz),
       "use 22050, 44100 or 48000");
}

void require_holds(const fs::path& sound, const SoundOptions& options) {
  if (options.bits != Bits::kFloat || audio::extension_of(sound) != ".flac") return;
  fail(ExitCode::kUsage, sound.string() + ": flac cannot hold float samples",
       "use --bits 24, or write a .wav");
}

void Stopwatch::lap(const char* name) {
  const auto before = last_;
  start();
  add(name, std::chrono::duration<double>(last_ - before).count());
}

void Stopwatch::add(const char* name, double seconds) {
  laps_[name] = laps_.value(name, 0.0) + seconds;
}

Json Stopwatch::laps() const {
  Json result = laps_;
  double total = 0;
  for (const Json& seconds : laps_) total += seconds.get<double>();
  result["total"] = total;
  return result;
}

struct Converter::Loaded {
  runtime::Session session{session_options()};
  Synthesizer synthesizer;
  pipeline::HearFunction hear;
  std::vector<std::string> warnings;
  std::optional<pipeline::PitchRange> range;             // of the instrument
  std::optional<std::pair<double, double>> timbre_part;  // seconds of the recording
  pipeline::Instrument instrument;

  Loaded(const ConversionOptions& options, const data::Preset* preset)
      : synthesizer(session, weights_folder(options.weights)) {
    TimbreSource timbre;
    Clip clip;
    if (preset != nullptr) {
      timbre = synthesizer.preset_timbre(*preset, warnings);
      range = {preset->low, preset->high};
    } else {
      clip = read(options);
      range = pipeline::range_around(transcriber(session, options.notes)(clip.samples));
    }
    synthesizer.load(options.play);
    hear = hear_function(session, weights_folder(options.weights), options.notes, options.hum);
    if (preset == nullptr) timbre = timbre_of(std::move(clip), options);
    instrument = synthesizer.instrument(std::move(timbre), options.play, true);
  }

  Clip read(const ConversionOptions& options) {
    auto clip = read_clip(options.timbre, options.max_seconds, warnings);
    timbre_part = {clip.from_s, clip.to_s};
    if (clip.recording_s > clip.to_s - clip.from_s + 0.05) {
      spdlog::info("{}: the timbre is that of {:.1f} to {:.1f} s of {:.1f} s",
                   audio::name_of(options.timbre), clip.from_s, clip.to_s, clip.recording_s);
    }
    return clip;
  }

  // Who hears the melody hears the clip too.
  TimbreSource timbre_of(Clip clip, const ConversionOptions& options) {
    std::vector<audio::Note> notes;
    if (options.play.residual > 0) notes = clip_notes(clip.samples, hear(clip.samples).notes);
    return synthesizer.clip_timbre(std::move(clip.samples), std::move(notes));
  }
};

Converter::Converter(ConversionOptions options)
    : options_(std::move(options)),
      preset_(options_.preset.empty() ? nullptr : &data::find_preset(options_.preset)) {}

Converter::~Converter() = default;

Converter::Loaded& Converter::load() {
  if (!loaded_) loaded_ = std::make_unique<Loaded>(options_, preset_);
  return *loaded_;
}

Hearing Converter::listen(const fs::path& path, Stopwatch& watch, bool stays_in_time) {
  const auto recording = pipeline::read_recording(path, options_.max_seconds);
  watch.lap("read");
  Loaded& loaded = load();
  watch.lap("load");
  Hearing hearing{pipeline::read_melody(recording.samples, loaded.hear, options_.hum, loaded.range),
                  {}};
  hearing.score = pipeline::make_score(
      hearing.melody.notes, options_.score,
      {.stays_in_time = stays_in_time, .can_bend = preset_ == nullptr || data::can_bend(*preset_)});
  auto& warnings = hearing.melody.warnings;
  warnings.insert(warnings.begin(), recording.warnings.begin(), recording.warnings.end());
  warnings.insert(warnings.end(), hearing.score.warnings.begin(), hearing.score.warnings.end());
  for (const auto& warning : loaded.warnings) spdlog::warn("{}", warning);
  for (const auto& warning : warnings) spdlog::warn("{}: {}", audio::name_of(path), warning);
  warnings.insert(warnings.begin(), loaded.warnings.begin(), loaded.warnings.end());
  watch.lap("melody");
  return hearing;
}

pipeline::Instrument Converter::instrument(bool shows_progress) {
  Loaded& loaded = load();
  auto instrument = loaded.instrument;
  const auto progress = std::make_shared<std::optional<Progress>>();
  instrument.progress = [progress, shows_progress](int64_t done, int64_t total) {
    if (stop_signal() != 0)
      fail(ExitCode::kFailure, "stopped; recordings that were finished are kept",
           "run the command again for the others");
    if (!shows_progress) return;
    if (!*progress) progress->emplace("generating", total);
    (*progress)->update(done);
  };
  return instrument;
}

int Converter::channels() { return audio::channel_count(load().synthesizer.channels()); }

std::vector<std::vector<float>> Converter::play(std::span<const pipeline::Piece> pieces) {
  return pipeline::play(pieces, instrument(true));
}

std::vector<float> Converter::play(std::span<const audio::Note> notes) {
  const pipeline::Piece one = piece(notes);
  return std::move(play(std::span(&one, 1))[0]);
}

void Converter::stream(std::span<const audio::Note> notes, const pipeline::SampleSink& sink) {
  auto streaming = instrument(false);
  // The draft takes as long for a few frames as for all of them.
  streaming.quick_frames = options_.play.fast ? 0 : kQuickFrames;
  pipeline::play(notes, streaming, static_cast<uint64_t>(seed_of(0)), sink);
}

std::string Converter::instrument_name() const {
  return preset_ != nullptr ? std::string(preset_->name)
                            : fs::path(options_.timbre).stem().string();
}

std::optional<std::pair<double, double>> Converter::timbre_part() const {
  return loaded_ ? loaded_->timbre_part : std::nullopt;
}

runtime::Counters Converter::counters() const {
  return loaded_ ? loaded_->session.counters() : runtime::Counters{};
}

}  // namespace hum::app
