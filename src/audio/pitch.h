// Estimates the pitch of one voice over time with YIN.
#pragma once

#include <span>
#include <vector>

namespace hum::audio {

struct YinOptions {
  double min_hz = 55;
  double max_hz = 2093;
  int window_samples = 2048;  // even, longer than the longest period
  int hop_samples = 256;
  double trough_threshold = 0.1;  // the first dip below it is the period, else the deepest dip
};

struct PitchTrack {
  double frame_s = 0;  // frame t is centered on t * frame_s
  std::vector<double> hz;
  // The dip's depth: 0 for periodic sound, about 1 for noise; 1 for silence. The pitch of noise and
  // silence is meaningless.
  std::vector<double> aperiodicity;
  std::vector<double> rms;
};

// Source: de Cheveigne and Kawahara 2002; librosa 0.11 yin (centered, zero padding).
PitchTrack yin(std::span<const float> samples, int rate_hz, const YinOptions& options = {});

}  // namespace hum::audio
