// The General MIDI presets that hum can play a melody on, and which of them are kept out of
// training. What given weights were trained on is the weights' to say: app/play/synthesizer.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

struct Preset {
  std::string_view name;    // kebab-case: "nylon-guitar"
  std::string_view alias;   // a second name, or empty: "piano" of "acoustic-grand-piano"
  std::string_view family;  // "strings", "reed", ...
  int program;              // General MIDI, 0-based
  int low, high;            // playable range, MIDI numbers, both included
  bool polyphonic;          // may be given chords
  bool held_out;            // kept out of training data: an instrument to be judged on as unseen
};

// Whether a player can bend a note or glide to the next one: not on keyboards, mallets and harps.
bool can_bend(const Preset& preset);

// All presets, in the order of their program numbers; an index into it is not stable between
// releases, names are.
std::span<const Preset> presets();

// Those that training data is made of when no presets are named: all but the held-out ones, in
// table order.
std::vector<const Preset*> training_presets();

// By name or alias, case-insensitive; '_' and ' ' count as '-'.
// Throws: kUsage with the nearest names when there is none.
const Preset& find_preset(std::string_view name);

// Up to `count` names nearest to `name`: those that contain it, then by edit distance.
std::vector<std::string> nearest_presets(std::string_view name, int count = 3);

// The shift in semitones, a multiple of 12, after which most of the sounding time of `notes` lies
// in [low, high]; of equal ones the smallest, and of two equal sizes the upward one. 0 without
// notes.
int octave_shift(std::span<const audio::Note> notes, int low, int high);

}  // namespace hum::data
