// Reads the sound files of whoever runs hum: those of audio/io.h, and webm and m4a, in which phones
// and browsers record.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "audio/io.h"
#include "base/scratch_folder.h"
#include "pipeline/recording.h"

namespace hum::decode {

// As audio/io.h and pipeline/recording.h say, but that read_audio mixes more than two channels of a
// webm or m4a file into one. "-" is stdin, which must be in one of the formats of audio/io.h.
// Throw: what those throw; of webm and m4a also what decode_confined (confined.h) throws.
audio::AudioBuffer read_mono(const std::filesystem::path& file, double max_seconds,
                             audio::SourceFormat* source = nullptr);
audio::AudioBuffer read_audio(const std::filesystem::path& file, double max_seconds);
pipeline::Recording read_recording(const std::filesystem::path& file,
                                   double max_seconds = audio::kDefaultMaxSeconds);

// For readers that open a file themselves, as audio::SoundReader: the file; of webm and m4a a copy
// as wav, which is deleted with this object.
class ReadableFile {
 public:
  // Throws: of webm and m4a, what decode_confined throws.
  explicit ReadableFile(std::filesystem::path file, double max_seconds, bool mono = false);

  const std::filesystem::path& path() const { return path_; }
  // Of the file that was copied; absent if it was not.
  const std::optional<audio::SourceFormat>& source() const { return source_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<ScratchFolder> copy_;
  std::optional<audio::SourceFormat> source_;
};

}  // namespace hum::decode
