// Makes bass, chords and drums for a melody from patterns of a style, with the variations of a
// player.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"
#include "base/fields.h"
#include "pipeline/chords.h"

namespace hum::pipeline {

enum class Style { kPop, kBallad, kSwing };
inline EnumNames<Style> enum_names(Style) {
  static constexpr std::pair<Style, std::string_view> kNames[] = {
      {Style::kPop, "pop"}, {Style::kBallad, "ballad"}, {Style::kSwing, "swing"}};
  return kNames;
}

struct Accompaniment {
  std::vector<audio::Note> bass, chords, drums;  // drums: keys of General MIDI's drum kit
  int bass_program = 33, chord_program = 0;      // General MIDI
};

// Plays one chord per bar from the tempo's first beat. The bass is between E1 and B2; chords have
// three notes around middle C, each in the inversion nearest to the last one; the last bar is held.
Accompaniment accompany(std::span<const Chord> chords, const Tempo& tempo, int64_t beats_per_bar,
                        Style style);

}  // namespace hum::pipeline
