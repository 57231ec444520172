// How a singer performs a song: pitch, level, noise and articulation over time, and the exact notes
// that come of it.
#pragma once

#include <span>
#include <vector>

#include "data/singing/singer.h"
#include "data/singing/song.h"
#include "data/synthesis/harmonics.h"
#include "data/synthesis/sung_note.h"
#include "data/synthesis/timing.h"

namespace hum::data {

// Curves on control points, kControlSamples apart, from time 0 to the end.
struct Performance {
  std::vector<float> hz;         // of the voice; also where it is silent
  std::vector<float> level;      // amplitude of the voice, 0: silent; about 1 at the usual level
  std::vector<float> effort;     // 0 soft to 1 loud: how bright the voice is
  std::vector<float> roughness;  // 0 to 1: creak
  std::vector<float> noise;      // amplitude of consonants
  std::vector<float> noise_hz;   // their spectral centre
  std::vector<float> syllable;   // counts up; fractions are transitions from vowel to vowel
  std::vector<float> nasality;   // 0 to 1: mouth closed
  std::vector<SungNote> notes;   // in order, without overlap

  size_t size() const { return hz.size(); }
  static double time_s(size_t point) {
    return static_cast<double>(point) * kControlSamples / kSampleRate;
  }
};

// Draws what varies within a song: vibrato, scoops, falls, drift of the tuning, accents.
Performance perform(std::span<const PlannedNote> song, const Singer& singer, double seconds,
                    Rng& rng);

}  // namespace hum::data
