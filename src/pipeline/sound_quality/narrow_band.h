// Sound that once went through a telephone call, a file of 8 or 11 kHz or a codec at a low rate.
#pragma once

#include <vector>

#include "pipeline/sound_quality/spectra.h"

namespace hum::pipeline {

// Whether nothing sounds above about 5.5 kHz, not even noise. A voice without harmonics up there,
// as of a closed mouth or a whistle, leaves some. `noise`: of these spectra.
bool has_narrow_band(const Spectra& spectra, const std::vector<double>& noise);

}  // namespace hum::pipeline
