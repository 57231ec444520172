// Augmentation of training items: what is drawn on top of a composed melody and its performance, so
// that training meets more keys, tempi, levels and rooms, and hums that are read with faults.
//
// Each kind has a share of the items of its own and draws from (seed, its name, index): with a
// share of 0 it is off, and all else in the items stays as it was. What replaces melody frames in
// batches is in features/batches.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "audio/notes.h"
#include "base/json_fwd.h"
#include "base/rng.h"

namespace hum::data {

// Shares of the items.
struct AugmentOptions {
  double transposition = 0.5;
  // Off: the decoder's excitation follows the melody as it is written, so tokens of another octave
  // would contradict it.
  double octave = 0;
  double tempo = 0.5;
  double gain = 0.5;
  double noise = 0.5;
  // Low: what is missing from the melody must be made up.
  double note_drops = 0.05;

  static AugmentOptions none() { return {0, 0, 0, 0, 0, 0}; }

  template <class V>
  void visit_fields(V& v) {
    v("transposition", transposition, "melody and target up to 6 semitones up or down");
    v("octave", octave, "the melody alone an octave up or down; the target stays");
    v("tempo", tempo, "melody and target up to a quarter faster or slower");
    v("gain", gain, "the hum at -18 to 6 dB, the reference at -3 to 3 dB");
    v("noise", noise, "noise 10 to 40 dB below the hum, 25 to 50 dB below the reference");
    v("note_drops", note_drops, "one note in ten is missing from the melody; the target has it");
  }
};

// What was drawn for one item.
struct Augmentation {
  int transposition = 0;  // semitones; less where the preset's range forbids it
  int octave = 0;         // semitones: -12, 0, 12
  double tempo = 1;       // above 1: faster
  std::optional<double> hum_gain_db, reference_gain_db;
  std::optional<double> hum_snr_db, reference_snr_db;
  bool drops_notes = false;
};
Augmentation draw_augmentation(const AugmentOptions& options, uint64_t seed, uint64_t index);
// Those kinds alone that change something.
Json describe(const Augmentation& augmentation);

// As much of `semitones` as keeps all notes within low..high.
int fitting_transposition(std::span<const audio::Note> notes, int semitones, int low, int high);

// Times divided by `tempo`; bends stay spread over their notes.
std::vector<audio::Note> at_tempo(std::span<const audio::Note> notes, double tempo);

// Whether a note is missed: one in ten, one of 0.1 s three times as often as one of half a second
// or more.
bool is_missed(const audio::Note& note, Rng& rng);

// Noise, `snr_db` below active_rms, then gain, clipped at full scale. `name` tells the noises of
// one item apart.
void disturb(std::span<float> samples, std::optional<double> gain_db, std::optional<double> snr_db,
             uint64_t seed, std::string_view name, uint64_t index);

}  // namespace hum::data
