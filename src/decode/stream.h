// Decodes files block by block in children that are confined as that of confined.h: a file that
// crashes its decoder, or keeps it busy for ever, costs a child and not the program. A child
// decodes file after file, so that its start does not slow down short ones.
//
// For files of one owner: a child that a malicious file has taken over can falsify the sound of the
// files after it, though nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/io.h"

namespace hum::decode {

struct StreamLimits {
  audio::SoundBytes words;                    // what messages call a file; its bytes are not used
  int64_t memory_bytes = int64_t{512} << 20;  // of a decoder, besides the program and the file
  // From one block to the next: of the decoder's processor, and while this process waits.
  std::chrono::seconds processor_time{30};
  std::chrono::milliseconds wall_time{600'000};
  std::filesystem::path program;  // calls enter_decoder (confined.h); empty: this program
};

class Decoder;  // a child
class SoundStream;

// The children of one thread, which end with it.
class Decoders {
 public:
  // Starts a child. Throws: kUnavailable if the kernel has no seccomp, kTemporary if the machine
  // has no room for a process.
  explicit Decoders(StreamLimits limits);
  ~Decoders();
  Decoders(const Decoders&) = delete;
  Decoders& operator=(const Decoders&) = delete;

  // Several streams may be open at once; each has a child. They must not outlive this object.
  // Throws: kNoInput if there is no such file, kNoPermission if it is unreadable; what the
  // constructor throws.
  std::unique_ptr<SoundStream> open(const std::filesystem::path& file, double max_seconds);

 private:
  friend class SoundStream;
  std::unique_ptr<Decoder> take();

  StreamLimits limits_;
  std::vector<std::unique_ptr<Decoder>> idle_;
};

// A sound, block by block: the samples of audio::read_audio.
class SoundStream {
 public:
  ~SoundStream();
  SoundStream(const SoundStream&) = delete;
  SoundStream& operator=(const SoundStream&) = delete;

  // The next block; one without samples after the end. Throws: what audio::stream_audio
  // throws, perhaps after some blocks; kBadData for a crash, too much time or memory, a forbidden
  // system call; kTemporary if the machine killed the decoder.
  audio::AudioBuffer next();

 private:
  friend class Decoders;
  SoundStream(Decoders& decoders, std::unique_ptr<Decoder> decoder, double max_seconds);

  Decoders& decoders_;
  std::unique_ptr<Decoder> decoder_;  // null after the end
  double max_seconds_;
  int rate_hz_ = 0, channels_ = 0;  // 0: no block was there yet
  int64_t frames_ = 0;
  bool is_finite_ = true;
};

}  // namespace hum::decode
