// Plans which recordings to play, and where to write their sounds, notes and pictures.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audio/io.h"
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

// Of the sound files that hum writes.
inline const std::initializer_list<std::string_view> kSoundExtensions = {".wav", ".flac", ".ogg",
                                                                         ".mp3"};

struct OutputOptions {
  std::string output, midi, picture;
  SoundFormat format = SoundFormat::kWav;  // of names that hum chooses, and on stdout
  int64_t takes = 1;
  bool recursive = false;  // also the recordings in subfolders
};

struct OutputPlan {
  std::filesystem::path input;                  // "-": stdin
  std::vector<std::filesystem::path> sounds;    // one per take; "-": stdout
  std::filesystem::path midi;                   // empty: none
  std::vector<std::filesystem::path> pictures;  // one per take, or none
};

struct PlannedOutputs {
  std::vector<OutputPlan> plans;
  std::unique_ptr<OutputFolder> folder;  // of the outputs, if it is one; with its subfolders
};

// Inputs may be folders; their wav, flac, ogg, mp3, m4a and webm files are played in order of their
// names, with options.recursive also those in subfolders, but not in linked ones. An entry that
// cannot be looked up (a loop of links) is a recording too: reading it fails with the reason. The
// sound of a single file goes to the file `output`; several takes go to out-1.wav, out-2.wav. For
// several files, or if `output` is a folder or ends in '/', it is a folder, created if needed, with
// <recording>-<instrument>.wav, in subfolders as the recordings are. take.wav and take.mp3 side by
// side keep their extensions: take-wav-<instrument>.wav. Midi and picture are then extensions
// (".mid", ".png"), and their files go beside the sounds. Throws, before any long work: kNoInput
// for a folder without recordings; kUsage for an unknown extension, for a folder named like a sound
// file, for two outputs with one name, and for an output that would replace a recording or a file
// in `kept`; kCannotCreate when one cannot be written.
PlannedOutputs plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options,
                            const std::string& instrument,
                            const std::vector<std::filesystem::path>& kept = {});

// The sound's path; for stdout, a name with the extension of what it gets: for checks of formats.
std::filesystem::path format_name(const std::filesystem::path& sound, SoundFormat on_stdout);

// Sends a file to stdout that `write` makes, with this extension. `what` ("the sound") names it in
// errors. Throws: what `write` and write_bytes throw.
void write_to_stdout(std::string_view extension, std::string_view what,
                     const std::function<void(const std::filesystem::path&)>& write);

// Writes the sound to the file, or to stdout as `on_stdout` if it is "-". Throws: what
// audio::write_audio and write_bytes throw.
void write_sound(const std::filesystem::path& path, const audio::AudioBuffer& sound,
                 audio::SampleFormat samples, SoundFormat on_stdout);

// Throws: kUsage when the output would replace an input. `inputs` are real paths.
void require_not_read(const std::filesystem::path& output,
                      const std::set<std::filesystem::path>& inputs);

}  // namespace hum::app
