// What the readers of notes share.
#pragma once

#include <string>
#include <vector>

#include "audio/notes.h"
#include "base/json_fwd.h"

namespace hum::audio {

// Thirds of a semitone; no instrument bends further than MIDI's range.
inline constexpr int kMaxBend = 3 * 128;

// Empty if the note is valid, otherwise the problem.
std::string fault_of(const Note& note);

// Throws: kBadData for a note that is not valid; `where` names the list.
std::vector<Note> checked_and_sorted(std::vector<Note> notes, const std::string& where);

// The notes of a JSON list, without range checks but of pitches and bends. Throws: kBadData naming
// `where`, the number of the note and the value that does not fit.
std::vector<Note> parse_notes(const Json& list, const std::string& where);

}  // namespace hum::audio
