// The sound of a remix: what is heard of a stem, the song that a part is mixed into, and their mix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "app/separation/sample_spool.h"
#include "audio/buffer.h"
#include "audio/io.h"
#include "audio/loudness.h"

namespace hum::app {

// First add() all of the song, then ask for heard(), place() the part, and write(). Song and stem
// wait on disk: what is heard of the stem, and the part, are all that is in memory.
class RemixedSong {
 public:
  // `output`: of write(); its disk holds song and stem. Throws: what SampleSpool throws.
  RemixedSong(const std::filesystem::path& output, int rate_hz, int channels);

  // The next samples, interleaved: of the stem, and of what sounds beside the part.
  void add(std::span<const float> stem, std::span<const float> rest);
  int rate_hz() const { return rate_hz_; }
  int channels() const { return channels_; }
  double seconds() const { return static_cast<double>(frames_) / rate_hz_; }
  // -infinity for silence.
  double stem_lufs() const { return loudness_.integrated_lufs(); }
  // The stem as models hear it, at 22,050 Hz: the mean of its channels, or the loudest one where
  // they cancel each other. Throws: what SampleSpool throws.
  std::vector<float> heard();

  // The part gets the loudness of the stem plus gain_db, distributed over the channels as the stem
  // was. `part`: at the song's rate; what is longer than the song is cut.
  void place(audio::AudioBuffer part, double gain_db);
  // As place() took it: its level is not that of the mix.
  const audio::AudioBuffer& part() const { return part_; }
  // The mix, softer by one gain if its true peak would exceed -1 dBTP. Returns that gain in dB.
  // `progress` gets the share that is done; it may throw to stop. Throws: what audio::SoundWriter
  // and SampleSpool throw.
  double write(const std::filesystem::path& path, audio::SampleFormat format,
               const std::function<void(double done)>& progress);

 private:
  // Adds the part to the song's samples from this frame on.
  void add_part(std::span<float> samples, int64_t first_frame) const;
  double part_lufs() const;
  // Calls `use` for each block of the mix.
  template <typename Use>
  void for_mix(const Use& use);

  int rate_hz_, channels_;
  int64_t frames_ = 0;
  SampleSpool song_, stem_;
  audio::LoudnessMeter loudness_;
  audio::Cancellation cancellation_;  // of the stem's channels
  audio::AudioBuffer part_;
  std::vector<float> gains_;  // of the part in each channel
};

}  // namespace hum::app
