// The figures that descript-audio-codec prints, computed as it does: at the sounds' own levels,
// down to -100 dB of a magnitude of one, summed over scales. Half of each figure is inaudible, so
// these are for comparison with published tables; bars use mel_distance.
#pragma once

#include <array>
#include <span>
#include <utility>

namespace hum::eval {

// {window in samples, Slaney mel bands}; hops are a quarter of a window.
inline constexpr std::array kDacMelScales{
    std::pair{32, 5},   std::pair{64, 10},    std::pair{128, 20},  std::pair{256, 40},
    std::pair{512, 80}, std::pair{1024, 160}, std::pair{2048, 320}};

// The training loss of DAC: L1 of log10 mel magnitudes over kDacMelScales.
// Shapes: mono samples; the longer one is cut to the shorter one's length. 0 without samples.
// Source: dac/nn/loss.py MelSpectrogramLoss under conf/final (pow 1, mag_weight 0, clamp 1e-5).
double dac_training_mel(std::span<const float> reference, std::span<const float> estimate,
                        int rate_hz);

// "Mel" of DAC's tables: windows 2048 and 512 with 150 and 80 bands, L1 of log10 squared magnitudes
// and of magnitudes. Source: scripts/evaluate.py, MelSpectrogramLoss' defaults.
double dac_mel(std::span<const float> reference, std::span<const float> estimate, int rate_hz);

// "STFT" of DAC's tables: the same over the bins of windows 2048 and 512.
// Source: dac/nn/loss.py MultiScaleSTFTLoss' defaults.
double dac_stft(std::span<const float> reference, std::span<const float> estimate);

}  // namespace hum::eval
