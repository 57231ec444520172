// How far two renderings of the same music are apart, in log mel bands at seven resolutions.
#pragma once

#include <span>

namespace hum::eval {

// Mean over DAC's scales (windows 32..2048, hops a quarter of them, 5..320 Slaney bands) of the
// mean absolute difference of log10 mel magnitudes. Both sounds are brought to -16 LUFS first; on
// each scale, bands more than 60 dB below the reference's loudest one are raised to that floor.
// 0.05 is 1 dB. Shapes: mono samples; the longer one is cut to the shorter one's length. Silence
// stays silence. Source: descript-audio-codec MelSpectrogramLoss (its sum of scales, unfloored at
// 1e-5, is the training loss).
double mel_distance(std::span<const float> reference, std::span<const float> estimate, int rate_hz);

}  // namespace hum::eval
