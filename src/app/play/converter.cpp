#include "app/play/converter.h"

#include <optional>
#include <set>

#include "app/stop.h"
#include "base/files.h"
#include "base/log.h"
#include "decode/read.h"
#include "pipeline/recording.h"

namespace hum::app {

namespace fs = std::filesystem;

namespace {

// A stream starts with 3 s of tokens: half the wait of a full window, and long enough to compute
// the next part in time.
constexpr int64_t kQuickFrames = 150;

void validate_clips(const std::vector<std::string>& files) {
  if (files.size() > kMostClips) {
    fail(ExitCode::kUsage,
         fmt::format("--timbre takes at most {} recordings, not {}", kMostClips, files.size()),
         "a few that lead from low to high notes are enough");
  }
  std::set<fs::path> seen;
  for (const std::string& file : files) {
    if (seen.insert(real_path(file)).second) continue;
    fail(ExitCode::kUsage, fmt::format("--timbre names {} twice", audio::name_of(file)),
         "give each recording once");
  }
}

}  // namespace

void validate(const ConversionOptions& options) {
  if (options.preset.empty() == options.timbre.empty()) {
    fail(ExitCode::kUsage,
         options.preset.empty() ? "neither --preset nor --timbre was given"
                                : "--preset and --timbre cannot be combined",
         "--preset violin, or --timbre reference.wav");
  }
  validate_clips(options.timbre);
  pipeline::validate(options.hum);
  pipeline::validate(options.score);
  models::basic_pitch::validate(options.notes);
  pipeline::validate_max_seconds(options.max_seconds);
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
       "use --bits 24, or wav instead of flac");
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
  std::shared_ptr<LoadedModels> models;
  Timbre timbre;
  pipeline::HearFunction hear;
  pipeline::Instrument instrument;

  Loaded(std::shared_ptr<LoadedModels> kept, const ConversionOptions& options,
         const data::Preset* preset, const HearProgress& progress)
      : models(std::move(kept)) {
    if (preset != nullptr) timbre = models->timbre(*preset, options.play.residual > 0);
    models->synthesizer().load(options.play);
    hear = models->hear(options.notes, options.hum, progress);
    if (preset == nullptr) {
      const bool needs_notes =
          options.play.residual > 0 || models->synthesizer().humming().needs_reference_melody();
      timbre = models->timbre_of(options.timbre, options.max_seconds, options.notes,
                                 needs_notes ? hear : pipeline::HearFunction());
    }
    instrument = models->synthesizer().instrument(timbre.source, options.play, true);
  }
};

Converter::Converter(ConversionOptions options) : Converter(std::move(options), nullptr) {}

Converter::Converter(ConversionOptions options, std::shared_ptr<LoadedModels> models)
    : options_(std::move(options)),
      preset_(options_.preset.empty() ? nullptr : &data::find_preset(options_.preset)),
      models_(std::move(models)) {}

Converter::~Converter() = default;

Converter::Loaded& Converter::load() {
  if (!models_) models_ = std::make_shared<LoadedModels>(options_.weights);
  if (!hear_progress_) hear_progress_ = [](double) { require_no_stop(); };
  if (!loaded_) loaded_ = std::make_unique<Loaded>(models_, options_, preset_, hear_progress_);
  return *loaded_;
}

Hearing Converter::score(pipeline::HumMelody melody, bool stays_in_time) {
  Hearing hearing{std::move(melody), {}};
  hearing.score = pipeline::make_score(
      hearing.melody.notes, options_.score,
      {.stays_in_time = stays_in_time, .can_bend = preset_ == nullptr || data::can_bend(*preset_)});
  return hearing;
}

Hearing Converter::listen(const pipeline::Recording& recording, bool stays_in_time,
                          const std::string& name, const std::string& hint) {
  Loaded& loaded = load();
  Hearing hearing = score(pipeline::read_melody(recording.samples, loaded.hear, options_.hum,
                                                loaded.timbre.range, name, hint),
                          stays_in_time);
  auto& warnings = hearing.melody.warnings;
  warnings.insert(warnings.begin(), recording.warnings.begin(), recording.warnings.end());
  warnings.insert(warnings.end(), hearing.score.warnings.begin(), hearing.score.warnings.end());
  return hearing;
}

Hearing Converter::listen(const fs::path& path, Stopwatch& watch, bool stays_in_time) {
  const auto recording = decode::read_recording(path, options_.max_seconds);
  watch.lap("read");
  const Loaded& loaded = load();
  watch.lap("load");
  Hearing hearing = listen(recording, stays_in_time, audio::name_of(path));
  auto& warnings = hearing.melody.warnings;
  for (const auto& warning : loaded.timbre.warnings) spdlog::warn("{}", warning);
  for (const auto& warning : warnings) spdlog::warn("{}: {}", audio::name_of(path), warning);
  warnings.insert(warnings.begin(), loaded.timbre.warnings.begin(), loaded.timbre.warnings.end());
  watch.lap("melody");
  return hearing;
}

Hearing Converter::take(std::vector<audio::Note> notes, bool stays_in_time) {
  Hearing hearing = score(
      pipeline::given_melody(std::move(notes), options_.hum, load().timbre.range), stays_in_time);
  auto& warnings = hearing.melody.warnings;
  warnings.insert(warnings.end(), hearing.score.warnings.begin(), hearing.score.warnings.end());
  return hearing;
}

const std::vector<std::string>& Converter::timbre_warnings() { return load().timbre.warnings; }

pipeline::Instrument Converter::instrument(bool shows_progress) {
  Loaded& loaded = load();
  auto instrument = loaded.instrument;
  if (progress_) {
    instrument.progress = progress_;
    return instrument;
  }
  const auto progress = std::make_shared<std::optional<Progress>>();
  instrument.progress = [progress, shows_progress](int64_t done, int64_t total) {
    require_no_stop();
    if (!shows_progress) return;
    if (!*progress) progress->emplace("generating", total);
    (*progress)->update(done);
  };
  return instrument;
}

int Converter::channels() { return audio::channel_count(load().models->synthesizer().channels()); }

std::vector<std::vector<float>> Converter::play(std::span<const pipeline::Piece> pieces) {
  return pipeline::play(pieces, instrument(true));
}

std::vector<float> Converter::play(std::span<const audio::Note> notes) {
  const pipeline::Piece one = piece(notes);
  return std::move(play(std::span(&one, 1))[0]);
}

pipeline::Instrument Converter::streaming_instrument(bool starts_early) {
  auto streaming = instrument(false);
  // The draft takes as long for a few frames as for all of them.
  streaming.quick_frames = options_.play.lm && starts_early ? kQuickFrames : 0;
  return streaming;
}

void Converter::stream(std::span<const audio::Note> notes, const pipeline::SampleSink& sink) {
  pipeline::play(notes, streaming_instrument(), static_cast<uint64_t>(seed_of(0)), sink);
}

std::vector<float> Converter::stream_and_keep(std::span<const audio::Note> notes,
                                              const pipeline::SampleSink& sink, bool starts_early) {
  return pipeline::play_and_keep(notes, streaming_instrument(starts_early),
                                 static_cast<uint64_t>(seed_of(0)), sink);
}

std::string Converter::instrument_name() const {
  return preset_ != nullptr ? std::string(preset_->name)
                            : fs::path(options_.timbre.front()).stem().string();
}

std::span<const ClipPart> Converter::timbre_parts() const {
  return loaded_ ? std::span<const ClipPart>(loaded_->timbre.parts) : std::span<const ClipPart>();
}

runtime::Counters Converter::counters() const {
  return models_ ? models_->session().counters() : runtime::Counters{};
}

}  // namespace hum::app
