// Sound files through libsndfile: wav, flac, ogg, mp3 (and its other formats) in; wav, flac, ogg
// and mp3 out.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

// A whole sound file in memory, what messages call it, and what they suggest.
struct SoundBytes {
  std::string_view bytes;
  std::string name;
  std::string format_hint;  // if it is not a sound file
  std::string length_hint;  // if it is too long
};
// Receives a sound block by block.
using SoundSink = std::function<void(const AudioBuffer& block)>;

// Pass on the samples of read_audio and of read_mono, without holding the whole sound and without
// system calls except for memory. Whether channels cancel each other is known at the end: then
// stream_mono calls `restart`, and `sink` gets the whole sound again.
// Throws: what read_audio throws, kBadData only, perhaps after some blocks.
void stream_audio(const SoundBytes& file, double max_seconds, const SoundSink& sink);
SourceFormat stream_mono(const SoundBytes& file, double max_seconds, const SoundSink& sink,
                         const std::function<void()>& restart);

// Writes a temporary file, then renames it. The extension selects the container: .wav, .flac, .ogg
// (Vorbis) or .mp3 (variable bit rate); the last two ignore the sample format. Samples beyond full
// scale are clipped in 16 and 24 bits.
// Throws: kCannotCreate when the disk is full or the path not writable, kUsage for other
//   extensions.
void write_audio(const std::filesystem::path& path, const AudioBuffer& buffer,
                 SampleFormat format = SampleFormat::k16);

}  // namespace hum::audio
