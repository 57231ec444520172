// The General MIDI presets that hum can play a melody on, and those that are held out of training.
// For the training presets of given weights see app/play/synthesizer.h.
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
  bool polyphonic;          // can play chords
  bool held_out;            // held out of training data, as an unseen instrument for tests
};

// Whether a player can bend a note or glide to the next one; false for keyboards, mallets and
// harps.
bool can_bend(const Preset& preset);

// All presets in the order of their program numbers. Names are stable between releases, indices are
// not.
std::span<const Preset> presets();

// The default presets of training data: all but the held-out ones, in table order.
std::vector<const Preset*> training_presets();

// Finds a preset by name or alias, case-insensitive; '_' and ' ' count as '-'.
// Throws: kUsage with the nearest names when there is none.
const Preset& find_preset(std::string_view name);

// Up to `count` names nearest to `name`: first those that contain it, then by edit distance.
std::vector<std::string> nearest_presets(std::string_view name, int count = 3);

// The shift in semitones, a multiple of 12, that moves most of the sounding time of `notes` into
// [low, high]; of equally good ones the smallest, and of two equal sizes the upward one. 0 without
// notes.
int octave_shift(std::span<const audio::Note> notes, int low, int high);

}  // namespace hum::data
