// A melody as it is delivered: played (pipeline/play.h), cut, resampled, brought to level, mixed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "audio/buffer.h"
#include "pipeline/loop.h"
#include "pipeline/play.h"

namespace hum::pipeline {

struct FinishOptions {
  int rate_hz = 44100;
  int sound_channels = 1;    // of what was played, interleaved
  int channels = 1;          // of the result: a single channel is repeated, two stay two
  std::optional<Loop> loop;  // the sound is made to repeat
};

// The sound as it is delivered: cut where the release after `melody_end_s` has died away (60 dB
// below the loudest), at the latest after kMaxRelease_s, faded at the end; resampled; wrapped into
// its loop; at -16 LUFS and a true peak of at most -1 dBTP.
audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options);

// A song under the melody, both from time 0: the melody is as loud as the song and `gain_db` more,
// both together at -16 LUFS, true peak at most -1 dBTP. The song is brought to the melody's rate.
audio::AudioBuffer with_backing(audio::AudioBuffer melody, const audio::AudioBuffer& backing,
                                double gain_db);

// Where the sound that play() made has died away after the melody, in samples a channel.
int64_t end_of_release(std::span<const float> samples, double melody_end_s, int channels = 1);
// Half a cosine down to zero over the last tenth of a second.
void fade_end(std::span<float> samples, int channels = 1);

}  // namespace hum::pipeline
