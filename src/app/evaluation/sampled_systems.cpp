#include "app/evaluation/sampled_systems.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "app/play/references.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"
#include "pipeline/play.h"

namespace hum::app {
namespace {

double seconds_of(std::span<const float> samples) {
  return static_cast<double>(samples.size()) / data::kSampleRate;
}

int distance_semitones(const audio::Note& note, int pitch) { return std::abs(note.pitch - pitch); }

}  // namespace

std::vector<eval::System> SampledSystems::systems() {
  return {{.name = "retrieval",
           .what = "the training preset that is nearest to the reference, played by FluidSynth",
           .role = eval::Role::kFloor,
           .play = [this](const eval::TestClip& clip) { return retrieve(clip); }},
          {.name = "sampler",
           .what = "stored notes of the preset, or else those of the reference, pitch-shifted",
           .role = eval::Role::kFloor,
           .play = [this](const eval::TestClip& clip) { return sample(clip); }}};
}

std::vector<float> SampledSystems::retrieve(const eval::TestClip& clip) {
  const auto reference = reference_bank(clip);
  std::vector<eval::Timbre> timbres;
  for (const auto& note : reference) {
    timbres.push_back(eval::timbre_of(note.samples, data::kSampleRate));
  }
  const data::Preset* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const data::Preset* preset : sources_.seen) {
    const double distance_here = distance(*preset, reference, timbres);
    if (distance_here >= least) continue;
    least = distance_here;
    nearest = preset;
  }
  return data::levelled(sources_.render(model_.heard(), *nearest, seconds_of(clip.truth)));
}

std::vector<float> SampledSystems::sample(const eval::TestClip& clip) {
  const bool is_stored = clip.plan.split == eval::Split::kSeen;
  const auto bank = is_stored ? stored_bank(*clip.plan.preset) : reference_bank(clip);
  return data::levelled(eval::play_samples(bank, model_.heard(), std::ssize(clip.truth)));
}

std::vector<eval::NoteSample> SampledSystems::reference_bank(const eval::TestClip& clip) const {
  auto bank = eval::cut_notes(clip.reference, model_.reference_notes());
  if (bank.empty()) bank.push_back({.pitch = 60, .amplitude = 0.8, .samples = clip.reference});
  return bank;
}

const std::vector<eval::NoteSample>& SampledSystems::stored_bank(const data::Preset& preset) {
  auto& bank = banks_[&preset];
  if (bank.empty()) {
    const auto notes = single_notes(preset);
    const auto sound = data::levelled(
        sources_.render(notes, preset, pipeline::end_of(notes) + pipeline::kMaxRelease_s));
    bank = eval::cut_notes(sound, notes);
  }
  return bank;
}

const eval::Timbre& SampledSystems::stored_timbre(const data::Preset& preset,
                                                  const audio::Note& note) {
  const auto [found, is_new] = timbres_.try_emplace({&preset, note.start_s});
  if (is_new) {
    const auto alone = data::shifted(std::span(&note, 1), -note.start_s);
    found->second =
        eval::timbre_of(sources_.render(alone, preset, kStoredNote_s), data::kSampleRate);
  }
  return found->second;
}

double SampledSystems::distance(const data::Preset& preset,
                                const std::vector<eval::NoteSample>& reference,
                                const std::vector<eval::Timbre>& timbres) {
  const auto stored = single_notes(preset);
  double sum = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const int pitch = reference[i].pitch;
    int nearest = std::numeric_limits<int>::max();
    for (const auto& note : stored) nearest = std::min(nearest, distance_semitones(note, pitch));
    double least = std::numeric_limits<double>::infinity();
    for (const auto& note : stored) {
      if (distance_semitones(note, pitch) > nearest) continue;
      least = std::min(least, eval::timbre_distance(stored_timbre(preset, note), timbres[i]));
    }
    sum += least;
  }
  return sum / static_cast<double>(reference.size());
}

}  // namespace hum::app
