// Judges whether a sound is a melody on an instrument: the melody against a ceiling, the timbre
// against the true rendering. Negative controls are sounds that must fail.
#pragma once

#include <string>
#include <vector>

#include "eval/harness/melody_score.h"
#include "eval/metrics/timbre.h"

namespace hum::eval {

// Shapes: mono at 22,050 Hz, of any lengths.
struct InstrumentTask {
  std::vector<audio::Note> notes;          // requested
  std::vector<float> truth;                // those notes on the requested preset
  std::vector<std::vector<float>> others;  // those notes on other presets
  std::vector<float> wrong_melody;         // wrong_notes(notes) on the requested preset
  std::vector<float> hum;                  // the recording that the notes come from
  std::vector<float> reference;            // another melody on the requested preset
};

// The recordings of a task.
struct InstrumentSources {
  std::vector<float> hum, reference;
};
// Makes the task of playing `notes` on `preset`; the other presets distinguish timbres. Sounds last
// until the release of the last note ends.
InstrumentTask instrument_task(const data::Preset& preset,
                               std::span<const data::Preset* const> others,
                               std::vector<audio::Note> notes, InstrumentSources sources,
                               const Renderer& render);

struct InstrumentLimits {
  double chroma = 0.90, f1 = 0.80;  // shares of the ceiling; F1 within kSungOnsetTolerance_s
  double timbre_share = 0.5;        // of the hum's and of the sine's distance
};

struct InstrumentRow {
  MelodyScore score, kept;  // kept: share of the ceiling
  // Timbre distances to the truth, and to the nearest of the other presets' renderings.
  double distance = 0, nearest_other = 0;
  // The same distance for the hum and the sine, which have the melody but not the timbre.
  double hum_distance = 0, sine_distance = 0;

  // The limits that it misses, e.g. "chroma", "other preset", "hum"; empty: it passes.
  std::vector<std::string> failures(const InstrumentLimits& limits = {}) const;
};

struct NegativeControl {
  std::string name;
  std::vector<float> samples;
};

class InstrumentJudge {
 public:
  // Keeps the transcriber. Throws: kFailure when notes, truth or others are missing.
  InstrumentJudge(InstrumentTask task, Transcriber transcribe);

  std::span<const float> truth() const { return task_.truth; }
  // The score of the truth.
  const MelodyScore& ceiling() const { return ceiling_; }
  InstrumentRow judge(std::span<const float> samples) const;
  // The hum, a sine, the excitation alone, the wrong melody on the right instrument, and a copy of
  // the reference. If one of these passes, the row proves nothing.
  std::vector<NegativeControl> negative_controls() const;

 private:
  InstrumentTask task_;
  Transcriber transcribe_;
  MelodyScore ceiling_;
  Timbre truth_;
  std::vector<Timbre> others_;
  double hum_distance_ = 0, sine_distance_ = 0;
};

// The same rhythm with the pitches (and bends) in reverse order; a melody that is the same
// backwards moves by half an octave.
std::vector<audio::Note> wrong_notes(std::span<const audio::Note> notes);

}  // namespace hum::eval
