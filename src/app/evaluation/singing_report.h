// Evaluates real singing through the whole program: eight instruments, judged against FluidSynth
// playing the same notes, with the negative controls beside it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/play/synthesizer.h"
#include "base/json_fwd.h"
#include "eval/harness/functions.h"
#include "pipeline/hearing.h"

namespace hum::app {

struct SingingJudges {
  pipeline::HearFunction melody;  // finds the melody of the recording
  eval::Transcriber transcribe;   // finds the notes of a sound for the judge
  eval::Renderer render;
};

struct SungRecording {
  std::string name;
  std::vector<float> samples;  // mono, 22,050 Hz
};

// [{"recording", "preset", "row", "chroma", "F1", "F1 50 ms", "chroma of ceiling", "F1 of ceiling",
//   "F1 50 ms of ceiling", "timbre distance", "nearest other preset", "envelope",
//   "falls short of"}]: "F1" is within 100 ms; "envelope" is the correlation with the true
//   rendering's envelope
// Calls `sounds` with each preset's name and hum's sound (22,050 Hz). Throws: kBadData when the
// recording has no melody.
Json singing_report(
    Synthesizer& synthesizer, const SingingJudges& judges, const SungRecording& recording,
    const std::function<void(const std::string& preset, std::span<const float> samples,
                             std::span<const audio::Note> notes)>& sounds);

}  // namespace hum::app
