// Balances the parts of an arrangement.
#pragma once

#include <string>
#include <vector>

#include "audio/buffer.h"

namespace hum::pipeline {

struct Part {
  std::string name;
  audio::AudioBuffer sound;
  double level_db = 0;  // its loudness relative to the others (EBU R128)
};

// Sets each part to its level, pads all to the longest, and returns their sum at -16 LUFS. One
// limiter holds peaks of the sum and of parts at -2 dB; its gain applies to all parts, so they add
// up to the mix. Sound that is nearly all peaks stays quieter. Rates and channels must agree.
// Silent parts stay silent.
audio::AudioBuffer mix_down(std::vector<Part>& parts);

}  // namespace hum::pipeline
