// The spectrograms of a sound that mel_distance.h and dac_losses.h compare. Several figures, and
// many sounds that are compared with the same truth, share them.
#pragma once

#include <array>
#include <span>
#include <utility>

#include "audio/dsp.h"

namespace hum::eval {

// {window in samples, Slaney mel bands}; hops are a quarter of a window.
inline constexpr std::array kDacMelScales{
    std::pair{32, 5},   std::pair{64, 10},    std::pair{128, 20},  std::pair{256, 40},
    std::pair{512, 80}, std::pair{1024, 160}, std::pair{2048, 320}};
inline constexpr size_t kTableScales = 2;

struct Spectra {
  // [frames, bins or bands] with their log10; that of 0 is -infinity.
  struct Magnitudes {
    audio::Matrix<float> linear, log;
  };

  // What would take the sound to -16 LUFS, as the log10 of a factor; 0 for silence.
  float log_gain = 0;
  std::array<audio::Matrix<float>, kDacMelScales.size()> log_mel;
  // Of windows 2048 and 512: all bins, and in 150 and 80 bands.
  std::array<Magnitudes, kTableScales> bins, bands;
};

// Shapes: mono samples.
Spectra spectra_of(std::span<const float> samples, int rate_hz);

}  // namespace hum::eval
