// How long the room of a recording echoes.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/sound_quality/spectra.h"

namespace hum::pipeline {

// The time in s in which the steepest decays of the recording would fall by 60 dB. Nothing decays
// faster than its room lets it, and a voice makes some quick decays in every band, at its ends and
// where its harmonics move on. Dry singing gives 0.1 to 0.35 s; a room gives about two thirds of
// its reverberation time, less if the voice is close. Absent if too little sound stands out of the
// noise. `noise`: of the same spectra.
// Source: the distribution of decay rates, Wen, Habets and Naylor 2008, "Blind estimation of
// reverberation time based on the distribution of signal decay rates".
std::optional<double> decay_s(const Spectra& spectra, const std::vector<double>& noise);

}  // namespace hum::pipeline
