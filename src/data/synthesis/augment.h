// Augmentation of training items: random changes of a melody and its performance, so that training
// covers more keys, tempi, levels and rooms, and faulty transcriptions of hums.
//
// Each kind has its own share of items and draws from (seed, its name, index). A share of 0 turns
// it off without changing anything else in the items. For the replacement of melody frames in
// batches see features/batches.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "audio/notes.h"
#include "base/json_fwd.h"
#include "base/rng.h"
#include "data/synthesis/conditions.h"

namespace hum::data {

// Shares of items.
struct AugmentOptions {
  double transposition = 0.5;
  // Off, because the decoder's excitation follows the written melody, so tokens of another octave
  // would contradict it.
  double octave = 0;
  double tempo = 0.5;
  double gain = 0.5;
  double noise = 0.5;
  // Low, because the model must invent the missing notes.
  double note_drops = 0.05;
  // The clips of users were recorded; those of presets were not.
  double recording = 0;

  static AugmentOptions none() { return {0, 0, 0, 0, 0, 0, 0}; }

  template <class V>
  void visit_fields(V& v) {
    v("transposition", transposition, "share with melody and target moved by up to 6 semitones");
    v("octave", octave, "share with only the melody moved by an octave; the target stays");
    v("tempo", tempo, "share with melody and target up to a quarter faster or slower");
    v("gain", gain, "share with the hum at -18 to 6 dB, the reference at -3 to 3 dB");
    v("noise", noise,
      "share with noise 10 to 40 dB below the hum, 25 to 50 dB below the reference");
    v("note_drops", note_drops, "share without one note in ten of the melody; the target has them");
    v("recording", recording,
      "share with the reference recorded in a room, by a microphone, with an equalizer");
  }
};

// The draws of one item.
struct Augmentation {
  int transposition = 0;  // semitones; less if the preset's range requires it
  int octave = 0;         // semitones: -12, 0, 12
  double tempo = 1;       // above 1: faster
  std::optional<double> hum_gain_db, reference_gain_db;
  std::optional<double> hum_snr_db, reference_snr_db;
  bool drops_notes = false;
  std::optional<Conditions> reference_recording;
};
Augmentation draw_augmentation(const AugmentOptions& options, uint64_t seed, uint64_t index);
// Only the kinds that change something.
Json describe(const Augmentation& augmentation);

// The largest part of `semitones` that keeps all notes within low..high.
int fitting_transposition(std::span<const audio::Note> notes, int semitones, int low, int high);

// Divides times by `tempo`; bends stay spread over their notes.
std::vector<audio::Note> at_tempo(std::span<const audio::Note> notes, double tempo);

// Whether to drop a note: one in ten; notes of 0.1 s three times as often as those of half a second
// or more.
bool is_missed(const audio::Note& note, Rng& rng);

// Adds noise `snr_db` below active_rms, then applies the gain and clips at full scale. `name`
// distinguishes the noises of one item.
void disturb(std::span<float> samples, std::optional<double> gain_db, std::optional<double> snr_db,
             uint64_t seed, std::string_view name, uint64_t index);

// Records the reference under the drawn conditions, if any, at the level of every clip.
void record_reference(std::vector<float>& samples, const Augmentation& drawn, uint64_t seed,
                      uint64_t index);

}  // namespace hum::data
