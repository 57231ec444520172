// Converts recordings from file to files, several at a time.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/play/converter.h"
#include "app/play/outputs.h"
#include "audio/buffer.h"
#include "audio/notes.h"
#include "pipeline/loop.h"

namespace hum::app {

// How the sound is finished and written.
struct DeliveryOptions {
  SoundOptions sound;
  SoundFormat on_stdout = SoundFormat::kWav;  // of a sound named "-"
  std::string backing;
  double gain_db = 0;  // of the melody over the backing
  bool loop = false;
  int64_t beats_per_bar = 4;  // of the loop
};

// Of --gain. Throws kUsage, with this hint, when it is out of range.
void require_gain(double gain_db, const std::string& hint);

// Throws kUsage naming the flag that is out of range or does not fit the others.
void validate(const DeliveryOptions& options, const pipeline::ScoreOptions& score);

// The loop that options.loop asks for. Throws: kBadData if no tempo was found.
std::optional<pipeline::Loop> loop_for(const DeliveryOptions& options,
                                       const pipeline::Score& score);

// One recording while it is converted.
struct Conversion {
  OutputPlan plan;
  Stopwatch watch;  // also: generate, write
  Hearing hearing;
  std::optional<pipeline::Loop> loop;
  std::vector<audio::Note> played;
  Json takes = Json::array();  // {output, seed, audio_seconds} of each take that was written
  std::exception_ptr fault;    // an Error

  bool is_done() const { return fault || takes.size() == plan.sounds.size(); }
};

// Converts all recordings; windows of several takes share batches. An error in one recording does
// not stop the others; a stop signal does.
class BatchConversion {
 public:
  // done: called for each recording, in order. All arguments must outlive this object.
  BatchConversion(const DeliveryOptions& options, Converter& converter,
                  const std::optional<audio::AudioBuffer>& backing, std::vector<OutputPlan> plans,
                  std::function<void(const Conversion&)> done);

  void run();

 private:
  struct Take {
    Conversion* recording;
    int64_t number;
  };

  // The error of `work`, if there was one. A stop signal ends all work.
  std::exception_ptr fault_of(const std::function<void()>& work) const;
  void listen(Conversion& recording);
  // Plays all waiting takes.
  void play();
  // Splits the time among the takes by their windows. An error is an error of all of them.
  void play_waiting();
  void deliver(const Take& take, std::vector<float> samples);

  const DeliveryOptions& options_;
  Converter& converter_;
  const std::optional<audio::AudioBuffer>& backing_;
  std::function<void(const Conversion&)> done_;
  std::vector<Conversion> recordings_;
  std::vector<Take> waiting_;
  int64_t windows_ = 0;
  size_t next_ = 0;
};

// What a file of the score's notes says about them.
audio::NoteFileOptions note_file_options(const pipeline::Score& score,
                                         const models::basic_pitch::NoteOptions& notes);

// Writes the melody that was played as .mid, .csv or .json. is_loop: its first beat is at 0.
void write_melody(const std::filesystem::path& path, const Converter& converter,
                  const pipeline::Score& score, std::span<const audio::Note> notes,
                  bool is_loop = false);

}  // namespace hum::app
