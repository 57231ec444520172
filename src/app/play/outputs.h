// Which recordings are played, and where their sounds, notes and pictures go.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"

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

struct OutputOptions {
  std::string output, midi, picture;
  SoundFormat format = SoundFormat::kWav;  // of names that are made up
  int64_t takes = 1;
};

struct OutputPlan {
  std::filesystem::path input;
  std::vector<std::filesystem::path> sounds;    // one a take
  std::filesystem::path midi;                   // empty: none
  std::vector<std::filesystem::path> pictures;  // one a take, or none
};

// Inputs may be folders, whose wav, flac, ogg and mp3 files are taken in order of their names. One
// file goes to `output`, which is a file: several takes are out-1.wav, out-2.wav. Otherwise, or
// when output is a folder or ends in '/', it is a folder, which is made:
// <recording>-<instrument>.wav; midi and picture are then extensions (".mid", ".png") and their
// files stand beside the sounds. Throws, before any long work: kNoInput for a folder without
// recordings, kUsage for extensions that are not written, for two outputs of one name and for one
// in the place of a recording or of a file in `kept`, kCannotCreate when one could not be written.
std::vector<OutputPlan> plan_outputs(const std::vector<std::string>& inputs,
                                     const OutputOptions& options, const std::string& instrument,
                                     const std::vector<std::filesystem::path>& kept = {});

// Throws: kUsage when the output stands in the place of an input. `inputs` are weakly canonical.
void require_not_read(const std::filesystem::path& output,
                      const std::set<std::filesystem::path>& inputs);

}  // namespace hum::app
