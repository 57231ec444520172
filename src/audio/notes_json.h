// A note as a JSON value, as in .json note files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"
#include "base/json_fwd.h"

namespace hum::audio {

// {"start", "end", "pitch", "name", "hz", "cents", "amplitude", "bends", "confidence"}. "hz" and
// "cents" (cents_of) only if the sung pitch is known, "confidence" only if that is.
Json to_json(const Note& note);
Json to_json(std::span<const Note> notes);
// The note, without range checks. Only "start", "end" and "pitch" are required; ignores "name" and
// "cents", which follow from the others. Throws: Json::exception when a field is missing or not a
// number.
Note note_from_json(const Json& json);
// Checked notes in order of (start, end, pitch), from a list or from an object that has one as
// "notes". Throws: kBadData naming `where`, the first note that is not valid and its fault; also
// for a key that no note has, with the nearest one.
std::vector<Note> notes_from_json(const Json& json, const std::string& where);

}  // namespace hum::audio
