// Floors that know the training presets but no model: a sampler, and FluidSynth on the preset that
// is nearest to the clip's timbre reference.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "app/evaluation/model_systems.h"
#include "eval/harness/note_samples.h"
#include "eval/metrics/timbre.h"

namespace hum::app {

class SampledSystems {
 public:
  // `model` hears the hums and the references. Both must outlive it.
  SampledSystems(const eval::TestSources& sources, const ModelSystems& model)
      : sources_(sources), model_(model) {}

  // "retrieval": the sound font of training plays the notes that were heard, on the training preset
  // whose stored notes are nearest to those of the reference, each compared with the stored note of
  // the nearest pitch. "sampler": lays stored notes of the clip's preset, pitch-shifted, on the
  // notes that were heard; for clips that are not of training presets the notes of the reference,
  // because nobody has stored others. They refer to this object.
  std::vector<eval::System> systems();

 private:
  std::vector<float> retrieve(const eval::TestClip& clip);
  std::vector<float> sample(const eval::TestClip& clip);
  // Those of the reference, with what sounds.
  std::vector<eval::NoteSample> reference_bank(const eval::TestClip& clip) const;
  const std::vector<eval::NoteSample>& stored_bank(const data::Preset& preset);
  // Of a stored note alone (app::single_notes), rendered as before it was coded.
  const eval::Timbre& stored_timbre(const data::Preset& preset, const audio::Note& note);
  double distance(const data::Preset& preset, const std::vector<eval::NoteSample>& reference,
                  const std::vector<eval::Timbre>& timbres);

  const eval::TestSources& sources_;
  const ModelSystems& model_;
  std::map<const data::Preset*, std::vector<eval::NoteSample>> banks_;
  std::map<std::pair<const data::Preset*, double>, eval::Timbre> timbres_;  // by the note's start
};

}  // namespace hum::app
