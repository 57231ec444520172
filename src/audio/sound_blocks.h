// Sound files read and written block by block, so that memory does not depend on their length.
// What a file may be, and what is written for each extension, is in io.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "audio/io.h"

namespace hum::audio {

// Reads a sound file, or stdin for "-".
class SoundReader {
 public:
  // Throws: what read_audio throws, except for faults that only show later.
  explicit SoundReader(const std::filesystem::path& path, double max_seconds = kDefaultMaxSeconds);
  ~SoundReader();
  SoundReader(const SoundReader&) = delete;
  SoundReader& operator=(const SoundReader&) = delete;

  int rate_hz() const;
  int channels() const;
  // As the file says; absent if it does not.
  std::optional<int64_t> frames() const;
  // Interleaved samples, valid until the next call; none after the end. Throws: what read_audio
  // throws, perhaps after some blocks.
  std::span<const float> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws: kUsage when files with the extension of `path` cannot hold such sound.
void require_format(const std::filesystem::path& path, int rate_hz, int channels,
                    SampleFormat format);

// Throws: kUsage when files with the extension of `path` cannot hold so many frames: wav files end
// at 4 GiB. Nothing is known of absent frames and of other extensions.
void require_length(const std::filesystem::path& path, int channels, SampleFormat format,
                    std::optional<int64_t> frames);

// Writes a sound file. Without commit() nothing is left of it.
class SoundWriter {
 public:
  // Throws: what write_audio throws.
  SoundWriter(const std::filesystem::path& path, int rate_hz, int channels,
              SampleFormat format = SampleFormat::k16);
  ~SoundWriter();
  SoundWriter(const SoundWriter&) = delete;
  SoundWriter& operator=(const SoundWriter&) = delete;

  // Whole frames, interleaved. Throws: kCannotCreate when the disk is full, what require_length
  // throws.
  void write(std::span<const float> samples);
  // Writes the file's end, also to the disk: after it, no lack of space keeps commit() from
  // working. Nothing may be written after it. Throws: what write() throws.
  void close();
  // Renames the file to its path; closes it first if that was not done. Throws: what write()
  // throws.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::audio
