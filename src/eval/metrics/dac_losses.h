// The figures that descript-audio-codec prints, computed as it does: at the sounds' own levels,
// down to -100 dB of a magnitude of one, summed over scales. Half of each figure is inaudible, so
// these are for comparison with published tables; bars use mel_distance. Spectra of sounds of the
// same length; 0 without samples.
#pragma once

#include "eval/metrics/spectra.h"

namespace hum::eval {

// The training loss of DAC: L1 of log10 mel magnitudes over kDacMelScales.
// Source: dac/nn/loss.py MelSpectrogramLoss under conf/final (pow 1, mag_weight 0, clamp 1e-5).
double dac_training_mel(const Spectra& reference, const Spectra& estimate);

// "Mel" of DAC's tables: windows 2048 and 512 with 150 and 80 bands, L1 of log10 squared magnitudes
// and of magnitudes. Source: scripts/evaluate.py, MelSpectrogramLoss' defaults.
double dac_mel(const Spectra& reference, const Spectra& estimate);

// "STFT" of DAC's tables: the same over the bins of windows 2048 and 512.
// Source: dac/nn/loss.py MultiScaleSTFTLoss' defaults.
double dac_stft(const Spectra& reference, const Spectra& estimate);

}  // namespace hum::eval
