// Shared by the tests of this folder: a melody, the real transcriber and the real instruments.
#pragma once

#include "data/synthesis/fluid.h"
#include "eval/harness/functions.h"
#include "models/basic_pitch/transcriber.h"
#include "runtime/testing.h"

namespace hum::eval::testing {

// Eight notes; no two neighbours are equal, and the melody is not the same backwards.
inline std::vector<audio::Note> melody() {
  std::vector<audio::Note> notes;
  constexpr int kPitches[] = {62, 69, 64, 67, 71, 66, 72, 60};
  double at_s = 0.2;
  for (const int pitch : kPitches) {
    notes.push_back({at_s, at_s + 0.38, pitch, 0.7, {}});
    at_s += 0.45;
  }
  return notes;
}

inline Transcriber basic_pitch() {
  static const models::basic_pitch::Transcriber model(runtime::test_session());
  return [](std::span<const float> samples) { return model.notes(samples); };
}

inline std::vector<float> render(std::span<const audio::Note> notes, const data::Preset& preset,
                                 double seconds) {
  static data::FluidRenderer renderer;
  return renderer.render(notes, preset.program, seconds);
}

}  // namespace hum::eval::testing
