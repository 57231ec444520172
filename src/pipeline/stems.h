// The parts of an arrangement brought into balance.
#pragma once

#include <string>
#include <vector>

#include "audio/buffer.h"

namespace hum::pipeline {

struct Stem {
  std::string name;
  audio::AudioBuffer sound;
  double level_db = 0;  // its loudness against the others' (EBU R128)
};

// Brings each stem to its level, all to the length of the longest, and returns their sum: -16 LUFS,
// or less where a true peak of the sum or of a stem would pass -1 dBTP. Stems add up to the mix.
// Rates and channels must agree. Silent stems stay silent.
audio::AudioBuffer mix_down(std::vector<Stem>& stems);

}  // namespace hum::pipeline
