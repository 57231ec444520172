// Finishes a played melody (pipeline/play.h) for delivery: cuts, resamples, normalises and mixes
// it.
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
  int sound_channels = 1;    // of the played sound, interleaved
  int channels = 1;          // of the result: a single channel is repeated, two stay two
  std::optional<Loop> loop;  // set: makes the sound repeat
};

// Throws: kFailure for samples that are not finite, which damaged weights make.
void require_finite(std::span<const float> samples);

// Cuts the sound where the release after `melody_end_s` has decayed (60 dB below the loudest), at
// the latest after kMaxRelease_s, and fades its end; resamples it; wraps it into its loop;
// normalises it to -16 LUFS with a true peak of at most -1 dBTP.
audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options);

// Mixes the melody with a song, both from time 0. The melody is `gain_db` louder than the song; the
// mix is at -16 LUFS with a true peak of at most -1 dBTP. Converts the song to the melody's rate.
audio::AudioBuffer with_backing(audio::AudioBuffer melody, const audio::AudioBuffer& backing,
                                double gain_db);

// The end of the release of play()'s sound after the melody, in samples per channel.
int64_t end_of_release(std::span<const float> samples, double melody_end_s, int channels = 1);
// Fades the last tenth of a second to zero with half a cosine.
void fade_end(std::span<float> samples, int channels = 1);

}  // namespace hum::pipeline
