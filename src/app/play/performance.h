// Performs one job of `hum serve`: hears a melody, plays it as a stream and as files, tells how far
// it is. The same options give the same samples as `hum generate` and `hum arrange`.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/play/arrange.h"
#include "app/play/batch_conversion.h"
#include "app/play/loaded_models.h"

namespace hum::app {

struct PerformanceOptions {
  ConversionOptions conversion;  // its weights are those of the models
  DeliveryOptions delivery;
  SoundFormat format = SoundFormat::kWav;
  int64_t takes = 1;
  pipeline::Style style = pipeline::Style::kPop;  // of an arrangement
  bool starts_early = true;                       // see Converter::stream_and_keep
};

// Where the melody comes from: a recording, or notes, which replace it.
struct MelodySource {
  std::optional<pipeline::Recording> recording;
  std::vector<audio::Note> notes;
};

// Called by the thread that performs.
struct PerformanceEvents {
  // The notes and what is known about them, as `hum notes --json` prints it.
  std::function<void(const Json& report)> heard;
  // "separate", "hear", "play" or "write", and the share of it that is done, 0..1. May throw to
  // stop.
  std::function<void(std::string_view stage, double done)> progress;
};

// A file that was written, by name.
struct PerformedFile {
  std::string name;
  double seconds = 0;  // of sound; 0: it is none
};

// Writes melody.mid and melody.json. Throws: what read_melody, make_score and write_notes throw.
std::vector<PerformedFile> perform_notes(const PerformanceOptions& options,
                                         const MelodySource& source, LoadedModels& models,
                                         const std::filesystem::path& folder,
                                         const PerformanceEvents& events);

// Writes take-1.wav, ... (or the other format) and the melody, and take 1 to `stream` while it is
// made: a wav of 16 bits without the backing (wav_stream.h). Throws: what Converter, finish and
// write_sound throw.
std::vector<PerformedFile> perform_takes(const PerformanceOptions& options,
                                         const MelodySource& source,
                                         const std::shared_ptr<LoadedModels>& models,
                                         const std::filesystem::path& folder, std::FILE* stream,
                                         const PerformanceEvents& events);

// Writes what `hum arrange` writes. Throws: what arrange throws.
std::vector<PerformedFile> perform_arrangement(const PerformanceOptions& options,
                                               const MelodySource& source,
                                               const std::shared_ptr<LoadedModels>& models,
                                               const std::filesystem::path& folder,
                                               const PerformanceEvents& events);

// Loads all models and their programs by performing a plain tone.
void warm_up(const std::shared_ptr<LoadedModels>& models);

}  // namespace hum::app
