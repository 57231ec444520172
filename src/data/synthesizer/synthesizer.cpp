#include "data/synthesizer/synthesizer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "data/synthesis/level.h"
#include "data/synthesizer/drive.h"
#include "data/synthesizer/synth_note_impl.h"
#include "data/synthesizer/wavetable_impl.h"

namespace hum::data {
namespace {

using audio::Note;
using internal::kSynthRate;

// A note glides from one that ends about where it starts.
constexpr double kGlideGap_s = 0.05;
constexpr int kWidestGlide = 12;

// Where the pitch of notes[i] comes from, relative to its own; 0: from nowhere.
double glide_of(std::span<const Note> notes, size_t i) {
  if (i == 0) return 0;
  const Note& before = notes[i - 1];
  const Note& note = notes[i];
  const int distance = before.pitch - note.pitch;
  const bool is_chord = note.start_s - before.start_s < kGlideGap_s;
  const bool touches = std::abs(before.end_s - note.start_s) < kGlideGap_s;
  return !is_chord && touches && std::abs(distance) <= kWidestGlide ? distance : 0;
}

}  // namespace

audio::AudioBuffer render_synth(const SynthPreset& preset, std::span<const Note> notes,
                                double seconds, uint64_t seed, uint64_t index) {
  HUM_REQUIRE(seconds > 0, "render_synth: length must be positive, got {} s", seconds);
  std::vector<Note> sorted(notes.begin(), notes.end());
  std::ranges::stable_sort(sorted, {}, [](const Note& note) {
    return std::tuple(note.start_s, note.pitch, note.end_s);
  });
  audio::AudioBuffer sound{kSynthRate, 2, {}};
  sound.samples.resize(2 * static_cast<size_t>(std::llround(seconds * kSynthRate)));
  Rng rng(seed, "synthesizer phases", index);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Note& note = sorted[i];
    HUM_REQUIRE(note.start_s >= 0 && note.end_s > note.start_s,
                "render_synth: note {} lasts from {} to {} s", i, note.start_s, note.end_s);
    internal::add_synth_note(preset, note, glide_of(sorted, i), rng, sound.samples);
  }
  if (preset.drive_db > 0) drive_channels(sound, preset.drive_db);
  normalise_level(sound.samples, 2);
  return sound;
}

}  // namespace hum::data
