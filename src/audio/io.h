// Sound files through libsndfile: wav, flac, ogg, mp3 (and its other formats) in; wav, flac, ogg
// and mp3 out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audio/buffer.h"

namespace hum::audio {

constexpr double kDefaultMaxSeconds = 600;

// In lower case, with the dot: ".wav" for "take.WAV".
std::string extension_of(const std::filesystem::path& path);

enum class SampleFormat { k16, k24, kFloat };

// What messages call a file: "stdin" for "-".
std::string name_of(const std::filesystem::path& path);

// Reads a whole file, or stdin for "-". A truncated file is rejected, not shortened.
// Throws: kNoInput when missing, kNoPermission when unreadable, kBadData when empty, not a sound
//   file, truncated, longer than max_seconds, or with non-finite samples (the message counts them).
AudioBuffer read_audio(const std::filesystem::path& path, double max_seconds = kDefaultMaxSeconds);

// The file's format before it was mixed down.
struct SourceFormat {
  int rate_hz = 0;
  int channels = 0;
  double clipped_fraction = 0;  // buffer.h
  // The channels are in opposite phase, so that a mix would lose them: the one that was used.
  std::optional<int> only_channel;
};

// read_audio and to_mono in one, without holding all channels in memory. Channels that would cancel
// each other are not mixed: the result is the loudest of them.
AudioBuffer read_mono(const std::filesystem::path& path, double max_seconds = kDefaultMaxSeconds,
                      SourceFormat* source = nullptr);

// Writes a temporary file, then renames it. The extension selects the container: .wav, .flac, .ogg
// (Vorbis) or .mp3 (variable bit rate); the last two ignore the sample format. Samples beyond full
// scale are clipped in 16 and 24 bits.
// Throws: kCannotCreate when the disk is full or the path not writable, kUsage for other
//   extensions.
void write_audio(const std::filesystem::path& path, const AudioBuffer& buffer,
                 SampleFormat format = SampleFormat::k16);

}  // namespace hum::audio
