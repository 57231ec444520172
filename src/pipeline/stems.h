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

// Brings each stem to its level, all to the length of the longest, and returns their sum at -16
// LUFS. Peaks of the sum and of stems are held at -2 dB by one limiter, whose gain all stems get:
// they add up to the mix. What is nearly all peaks stays quieter. Rates and channels must agree.
// Silent stems stay silent.
audio::AudioBuffer mix_down(std::vector<Stem>& stems);

}  // namespace hum::pipeline
