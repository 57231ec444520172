// Turns a recording into an instrument's sound, for `hum generate` and `hum arrange`.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/play/loaded_models.h"
#include "audio/io.h"
#include "base/json.h"
#include "pipeline/hum_melody.h"
#include "pipeline/recording.h"
#include "pipeline/score.h"

namespace hum::app {

struct ConversionOptions {
  std::string preset, weights;
  std::vector<std::string> timbre;  // recordings
  SynthesisOptions play;
  pipeline::HumOptions hum;
  pipeline::ScoreOptions score;
  models::basic_pitch::NoteOptions notes;
  double max_seconds = audio::kDefaultMaxSeconds;

  template <class V>
  void visit_fields(V& v) {
    v("preset", preset, "instrument to play on (hum presets lists them)");
    v("timbre", timbre,
      "instead of --preset: recordings of an instrument, of 1 s or more each, to imitate; the best "
      "5 s of each are used");
    play.visit_fields(v);
    hum.visit_fields(v);
    score.visit_fields(v);
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", max_seconds, "longest recording to accept, in seconds");
    notes.visit_fields(v);
  }
};

// Throws kUsage for neither or both of preset and timbre, values out of range.
void validate(const ConversionOptions& options);

enum class Bits { k16, k24, kFloat };
inline EnumNames<Bits> enum_names(Bits) {
  static constexpr std::pair<Bits, std::string_view> kNames[] = {
      {Bits::k16, "16"}, {Bits::k24, "24"}, {Bits::kFloat, "float"}};
  return kNames;
}

// The sample format of a sound file.
struct SoundOptions {
  int64_t rate_hz = 44100;
  Bits bits = Bits::k16;
  bool stereo = false;

  template <class V>
  void visit_fields(V& v) {
    v("rate", rate_hz, "sample rate of the output in Hz: 22050, 44100 or 48000");
    v("bits", bits, "sample format of the output");
    v("stereo", stereo, "write two channels (equal ones if the weights are mono)");
  }
  int rate() const { return static_cast<int>(rate_hz); }
  int channels() const { return stereo ? 2 : 1; }
  audio::SampleFormat format() const;
};
void validate(const SoundOptions& options);
// Throws kUsage when the file format that `sound` names cannot hold such samples.
void require_holds(const std::filesystem::path& sound, const SoundOptions& options);

// Adds up seconds by name.
class Stopwatch {
 public:
  // Adds the time since the last lap or start().
  void lap(const char* name);
  void start() { last_ = std::chrono::steady_clock::now(); }
  // Adds time that was measured elsewhere.
  void add(const char* name, double seconds);
  Json laps() const;  // and "total", their sum

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  Json laps_ = Json::object();
};

// The melody of one recording.
struct Hearing {
  pipeline::HumMelody melody;  // warnings included
  pipeline::Score score;       // the notes to play
};

// Loads the models after it has read the first recording, and keeps them.
class Converter {
 public:
  explicit Converter(ConversionOptions options);
  // Uses these models; options.weights has no effect.
  Converter(ConversionOptions options, std::shared_ptr<LoadedModels> models);
  ~Converter();

  // Receives (windows done, total windows) in place of the terminal; may throw to stop.
  void set_progress(std::function<void(int64_t done, int64_t total)> progress) {
    progress_ = std::move(progress);
  }
  // Before anything is loaded.
  void set_hear_progress(HearProgress progress) { hear_progress_ = std::move(progress); }

  // Loads the models and the timbre now.
  void prepare() { load(); }
  // Laps: read, load, melody. `stays_in_time`: see pipeline::Setting.
  Hearing listen(const std::filesystem::path& recording, Stopwatch& watch,
                 bool stays_in_time = false);
  // `name` and `hint`: see pipeline::read_melody.
  Hearing listen(const pipeline::Recording& recording, bool stays_in_time = false,
                 const std::string& name = "the recording", const std::string& hint = "");
  // The melody of notes that were written or corrected by hand.
  Hearing take(std::vector<audio::Note> notes, bool stays_in_time = false);
  // About the timbre reference.
  const std::vector<std::string>& timbre_warnings();
  // Take 0 has the seed of the options; later takes have the seeds that follow.
  pipeline::Piece piece(std::span<const audio::Note> notes, int64_t take = 0) const {
    return {{notes.begin(), notes.end()}, static_cast<uint64_t>(seed_of(take))};
  }
  // Number of channels, interleaved: 2 with stereo weights.
  int channels();
  // Plays all takes together, which is faster than one after another. Throws kFailure after a stop
  // signal, as does stream().
  std::vector<std::vector<float>> play(std::span<const pipeline::Piece> pieces);
  // Plays take 0.
  std::vector<float> play(std::span<const audio::Note> notes);
  // Plays take 0 and hands out each part as soon as it is ready. Shows no progress: the terminal
  // belongs to the program that plays the stream.
  void stream(std::span<const audio::Note> notes, const pipeline::SampleSink& sink);
  // The same, and returns what play() returns. Without `starts_early` the first part comes with the
  // whole first window: later, and for less work in all.
  std::vector<float> stream_and_keep(std::span<const audio::Note> notes,
                                     const pipeline::SampleSink& sink, bool starts_early = true);

  const ConversionOptions& options() const { return options_; }
  int64_t seed_of(int64_t take) const { return options_.play.sampling.seed + take; }
  // The General MIDI program; 0 for a timbre without a name.
  int program() const { return preset_ != nullptr ? preset_->program : 0; }
  // For the sound's file name: the preset's name, else the name of the timbre's first file.
  std::string instrument_name() const;
  // The parts of the recordings --timbre that are used; empty with a preset, and before load().
  std::span<const ClipPart> timbre_parts() const;
  runtime::Counters counters() const;

 private:
  struct Loaded;
  Loaded& load();
  Hearing score(pipeline::HumMelody melody, bool stays_in_time);
  pipeline::Instrument instrument(bool shows_progress);
  pipeline::Instrument streaming_instrument(bool starts_early = true);

  ConversionOptions options_;
  const data::Preset* preset_;
  std::shared_ptr<LoadedModels> models_;
  std::unique_ptr<Loaded> loaded_;
  std::function<void(int64_t done, int64_t total)> progress_;
  HearProgress hear_progress_;
};

}  // namespace hum::app
