// From a recording to an instrument's sound: what `hum generate` and `hum arrange` share.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/play/synthesizer.h"
#include "audio/io.h"
#include "base/json.h"
#include "pipeline/hum_melody.h"
#include "pipeline/score.h"

namespace hum::app {

struct ConversionOptions {
  std::string preset, timbre, weights;
  SynthesisOptions play;
  pipeline::HumOptions hum;
  pipeline::ScoreOptions score;
  models::basic_pitch::NoteOptions notes;
  double max_seconds = audio::kDefaultMaxSeconds;

  template <class V>
  void visit_fields(V& v) {
    v("preset", preset, "instrument to play it on (hum presets lists them)");
    v("timbre", timbre, "or a recording of 1 to 5 s whose sound is imitated");
    play.visit_fields(v);
    hum.visit_fields(v);
    score.visit_fields(v);
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", max_seconds, "longest recording to accept");
    notes.visit_fields(v);
  }
};

// Throws kUsage: neither or both of preset and timbre, values out of range, unknown presets.
void validate(const ConversionOptions& options);

enum class Bits { k16, k24, kFloat };
inline EnumNames<Bits> enum_names(Bits) {
  static constexpr std::pair<Bits, std::string_view> kNames[] = {
      {Bits::k16, "16"}, {Bits::k24, "24"}, {Bits::kFloat, "float"}};
  return kNames;
}

// How sound is written.
struct SoundOptions {
  int64_t rate_hz = 44100;
  Bits bits = Bits::k16;
  bool stereo = false;

  template <class V>
  void visit_fields(V& v) {
    v("rate", rate_hz, "sample rate of the output: 22050, 44100 or 48000");
    v("bits", bits, "sample format of the output");
    v("stereo", stereo, "two channels, equal ones where the weights are mono");
  }
  int rate() const { return static_cast<int>(rate_hz); }
  int channels() const { return stereo ? 2 : 1; }
  audio::SampleFormat format() const;
};
void validate(const SoundOptions& options);
// Throws kUsage when a file of this name cannot hold such samples.
void require_holds(const std::filesystem::path& sound, const SoundOptions& options);

// Seconds by name, added up.
class Stopwatch {
 public:
  // Since the last lap or start().
  void lap(const char* name);
  void start() { last_ = std::chrono::steady_clock::now(); }
  // Time that was measured elsewhere.
  void add(const char* name, double seconds);
  Json laps() const;  // and "total", their sum

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  Json laps_ = Json::object();
};

// What was heard in one recording.
struct Hearing {
  pipeline::HumMelody melody;  // warnings included
  pipeline::Score score;       // the notes to play
};

// Models are loaded when the first recording has been read, and kept.
class Converter {
 public:
  explicit Converter(ConversionOptions options);
  ~Converter();

  // Loads the models and the timbre now.
  void prepare() { load(); }
  // Laps: read, load, melody. `stays_in_time`: see pipeline::Setting.
  Hearing listen(const std::filesystem::path& recording, Stopwatch& watch,
                 bool stays_in_time = false);
  // Take 0 has the seed of the options, the next ones those that follow it.
  pipeline::Piece piece(std::span<const audio::Note> notes, int64_t take = 0) const {
    return {{notes.begin(), notes.end()}, static_cast<uint64_t>(seed_of(take))};
  }
  // Channels of what is played, interleaved: 2 with stereo weights.
  int channels();
  // Together, which takes less time than one after another. Ends with kFailure when a stop signal
  // comes, as does stream().
  std::vector<std::vector<float>> play(std::span<const pipeline::Piece> pieces);
  // Take 0.
  std::vector<float> play(std::span<const audio::Note> notes);
  // Take 0, handed out as soon as it is there.
  void stream(std::span<const audio::Note> notes, const pipeline::SampleSink& sink);

  const ConversionOptions& options() const { return options_; }
  int64_t seed_of(int64_t take) const { return options_.play.sampling.seed + take; }
  // General MIDI; 0 for a timbre that has no name.
  int program() const { return preset_ != nullptr ? preset_->program : 0; }
  // Of the sound's file: the preset's, else the timbre's file.
  std::string instrument_name() const;
  runtime::Counters counters() const;

 private:
  struct Loaded;
  Loaded& load();
  pipeline::Instrument instrument();

  ConversionOptions options_;
  const data::Preset* preset_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace hum::app
