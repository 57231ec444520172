// The steady noise of a recording: hiss, hum of machines, traffic.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/sound_quality/spectra.h"

namespace hum::pipeline {

// The mean power of the noise in each bin. In each bin it takes the quiet windows of the whole
// recording, so that it needs no pause: a voice leaves most bins free most of the time, and so does
// a room's echo. Steady tones (mains hum, a held chord) are not noise: each bin gets the median of
// its surroundings. Absent if too few windows sound.
// Source: minimum statistics, Martin 2001, with a quantile for the minimum (Stahl et al. 2000).
std::optional<std::vector<double>> steady_noise(const Spectra& spectra);

// The sum of the bins that are heard.
double noise_power(const Spectra& spectra, const std::vector<double>& noise);

}  // namespace hum::pipeline
