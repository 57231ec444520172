// Spectral losses between waveforms, on graphs. They combine floored log-mel over several windows,
// linear magnitude, a phase-only term, and the balance of energy over half-octaves. The balance is
// needed because the other terms treat each bin separately, and where a bin cannot be predicted
// their optimum is below its mean energy. The partials term counts only audible bins: in mel bands
// and linear magnitude a strong partial outweighs its overtones. No complex-STFT L1, which reduces
// the level of the sound.
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
  // Log-mel values more than this below the clip's peak compare equal.
  double floor_db = 60;
  // Weight of linear-magnitude L1 (windows 512 and 2048) relative to the mean log-mel L1.
  double linear_weight = 0.25;
  // Weight of the phase-only term; 0 disables it.
  double phase_weight = 0;
  double phase_below_hz = 2000;
  // Weight of the balance term; 0 disables it.
  double balance_weight = 0;
  // Weight of the partials term; 0 disables it.
  double partials_weight = 0;
  int64_t sample_rate_hz = 22050;
};

struct SpectralLoss {
  graph::Value total;
  // Mean over scales of |log10 mel difference|.
  graph::Value mel;
  graph::Value linear;
  // Empty if their weight is 0.
  graph::Value phase;
  // Mean over clips and half-octaves of |log10 energy difference|.
  graph::Value balance;
  // Mean of |log10 magnitude difference| over bins of window 2048 where the target is audible:
  // within 40 dB of its frame's peak.
  graph::Value partials;
};

// Shapes: prediction_BN, target_BN f32. The target gets no gradient.
SpectralLoss spectral_loss(const graph::Value& prediction_BN, const graph::Value& target_BN,
                           const SpectralLossConfig& config);

// |STFT| of frames that lie fully inside the signal. Shapes: x_BN -> [B, frames, window/2 + 1].
graph::Value magnitude(const graph::Value& x_BN, int64_t window_samples, int64_t hop_samples);

}  // namespace hum::nn
