// A note as a JSON value, as in .json note files.
#pragma once

#include <span>

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

}  // namespace hum::audio
