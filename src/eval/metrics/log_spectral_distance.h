// The distance of two spectrograms in dB, as papers on one-shot timbre transfer report it.
#pragma once

#include <span>

namespace hum::eval {

// Root mean square over time of the difference of mel power in dB, averaged over 128 Slaney bands
// (window 2048, hop 512), at 16 kHz and an RMS of 1, each sound with 80 dB of range. The estimate
// is cut or padded to the reference's length; 0 without samples. Shapes: mono samples.
// Source: ss-vq-vae (Cifka et al. 2021) experiments/paper_eval.ipynb; librosa power_to_db.
double log_spectral_distance_db(std::span<const float> reference, std::span<const float> estimate,
                                int rate_hz);

}  // namespace hum::eval
