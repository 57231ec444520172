// Plans which recordings to play, and where to write their sounds, notes and pictures.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/files.h"

namespace hum::app {

enum class SoundFormat { kWav, kFlac, kOgg, kMp3 };
inline EnumNames<SoundFormat> enum_names(SoundFormat) {
  static constexpr std::pair<SoundFormat, std::string_view> kNames[] = {
      {SoundFormat::kWav, "wav"},
      {SoundFormat::kFlac, "flac"},
      {SoundFormat::kOgg, "ogg"},
      {SoundFormat::kMp3, "mp3"}};
  return kNames;
}

// Of the sound files that hum reads in folders and writes.
inline const std::initializer_list<std::string_view> kSoundExtensions = {".wav", ".flac", ".ogg",
                                                                         ".mp3"};

struct OutputOptions {
  std::string output, midi, picture;
  SoundFormat format = SoundFormat::kWav;  // of names that hum chooses
  int64_t takes = 1;
};

struct OutputPlan {
  std::filesystem::path input;
  std::vector<std::filesystem::path> sounds;    // one per take
  std::filesystem::path midi;                   // empty: none
  std::vector<std::filesystem::path> pictures;  // one per take, or none
};

struct PlannedOutputs {
  std::vector<OutputPlan> plans;
  std::unique_ptr<OutputFolder> folder;  // of the outputs, if it is one
};

// Inputs may be folders; their wav, flac, ogg and mp3 files are played in order of their names. The
// sound of a single file goes to the file `output`; several takes go to out-1.wav, out-2.wav. For
// several files, or if `output` is a folder or ends in '/', it is a folder, created if needed, with
// <recording>-<instrument>.wav; midi and picture are then extensions (".mid", ".png"), and their
// files go beside the sounds. Throws, before any long work: kNoInput for a folder without
// recordings; kUsage for an unknown extension, for a folder named like a sound file, for two
// outputs with one name, and for an output that would replace a recording or a file in `kept`;
// kCannotCreate when one cannot be written.
PlannedOutputs plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options,
                            const std::string& instrument,
                            const std::vector<std::filesystem::path>& kept = {});

// Throws: kUsage when the output would replace an input. `inputs` are weakly canonical.
void require_not_read(const std::filesystem::path& output,
                      const std::set<std::filesystem::path>& inputs);

}  // namespace hum::app
