// Separates a song of any rate and channel count, block by block, into stems of the same rate and
// channels that add up to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/separation/stem_models.h"
#include "audio/sound_blocks.h"

namespace hum::app {

// Channels are separated two by two, because the models hear stereo: 0 and 1, 2 and 3, ... A last
// one alone is heard from both sides. Songs at other rates are resampled on the way in and out.
//
// The last stem is what the others leave of the song, so that all add up to it: `other`, which also
// gets what masks and resampling lose; `rest` if the models find the vocals alone.
class SongSeparator {
 public:
  using Sounds = StemStream::Sounds;

  // The models must outlive it. Throws: kBadData for more than 64 channels and below 1,000 Hz.
  SongSeparator(const StemModels& models, int rate_hz, int channels);
  ~SongSeparator();

  const std::vector<std::string>& stems() const { return stems_; }
  // Takes interleaved samples; returns the interleaved samples of each stem that are ready.
  Sounds push(std::span<const float> samples);
  // The remaining ones: each stem becomes as long as the song.
  Sounds finish();

  // The level of what went into `other` because no stem had it, relative to the song so far; -200
  // for less. Absent if there is no `other`, or the song is silent.
  std::optional<double> moved_db() const;

 private:
  struct Pair;
  Sounds take(size_t frames);
  // One sample of a stem as the models found it.
  float found(size_t sound, size_t channel, size_t frame) const;

  size_t channels_;
  std::vector<std::string> stems_;
  bool has_other_;  // the models found the last stem, too
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::vector<float> song_;  // whose stems are not taken yet
  double song_energy_ = 0, moved_energy_ = 0;
};

// Separates all of a song. `take` gets the samples of its stems, block by block. `progress` gets
// the frames that were read; it may throw to stop. Returns the frames of the song. Throws: what
// reading throws.
int64_t separate_song(audio::SoundReader& song, SongSeparator& separator,
                      const std::function<void(const SongSeparator::Sounds& stems)>& take,
                      const std::function<void(int64_t frames)>& progress);

// The share that is done, 0..1; 0 if the total is not known, that is 0.
double share_of(int64_t done, int64_t total);

// The sum of these stems. There is at least one.
std::vector<float> sum_of(const SongSeparator::Sounds& stems, std::span<const size_t> members);

}  // namespace hum::app
