// Spectral losses between waveforms, on graphs. Recipe: floored log-mel over several windows,
// linear magnitude, a phase-only term, and the balance of energy over half-octaves: the others look
// at every bin alone, and where a bin cannot be predicted their optimum lies below its mean energy.
// The levels of partials count what is heard and nothing between it: mel bands and linear magnitude
// let a strong partial outweigh its overtones. No complex-STFT L1, which shrinks the sound.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/value.h"

namespace hum::nn {

// Magnitude bins to mel bands for one window length.
struct MelScale {
  int64_t window_samples = 0;
  int64_t hop_samples = 0;
  int64_t bands = 0;
  // [window/2 + 1, bands], row-major.
  std::vector<float> weights;
};

struct SpectralLossConfig {
  std::vector<MelScale> mel_scales;
  // Log-mel values lower than this below the clip's peak count as equal.
  double floor_db = 60;
  // Weight of linear-magnitude L1 (windows 512 and 2048) relative to the mean log-mel L1.
  double linear_weight = 0.25;
  // Weight of the phase-only term; 0 leaves it out.
  double phase_weight = 0;
  double phase_below_hz = 2000;
  // Weight of the balance term; 0 leaves it out.
  double balance_weight = 0;
  // Weight of the partials term; 0 leaves it out.
  double partials_weight = 0;
  int64_t sample_rate_hz = 22050;
};

struct SpectralLoss {
  graph::Value total;
  // Mean over scales of |log10 mel difference|.
  graph::Value mel;
  graph::Value linear;
  // Empty when their weight is 0.
  graph::Value phase;
  // Mean over clips and half-octaves of |log10 energy difference|.
  graph::Value balance;
  // Mean of |log10 magnitude difference| over bins of window 2048 where the target is heard: within
  // 40 dB of its frame's peak.
  graph::Value partials;
};

// Shapes: prediction_BN, target_BN f32. The target gets no gradient.
SpectralLoss spectral_loss(const graph::Value& prediction_BN, const graph::Value& target_BN,
                           const SpectralLossConfig& config);

// |STFT| of frames that lie wholly inside the signal. Shapes: x_BN -> [B, frames, window/2 + 1].
graph::Value magnitude(const graph::Value& x_BN, int64_t window_samples, int64_t hop_samples);

}  // namespace hum::nn
