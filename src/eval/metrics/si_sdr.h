// Scale-invariant signal-to-distortion ratio.
#pragma once

#include <span>

namespace hum::eval {

enum class Mean { kKeep, kRemove };

// 10 log10(|a s|^2 / |e - a s|^2) with a = <e, s> / <s, s>, in dB. kKeep is torchmetrics' default,
// kRemove is DAC's. +infinity for a scaled copy; -infinity when the reference is silent or nothing
// of it is in the estimate. Throws: kFailure when the lengths differ. Source: Le Roux et al. 2019,
// "SDR - half-baked or well done?".
double si_sdr_db(std::span<const float> reference, std::span<const float> estimate,
                 Mean mean = Mean::kKeep);

}  // namespace hum::eval
