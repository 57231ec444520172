// A note as a JSON value, as in .json note files.
#pragma once

#include "audio/notes.h"
#include "base/json_fwd.h"

namespace hum::audio {

// {"start", "end", "pitch", "amplitude", "bends"}.
Json to_json(const Note& note);
// The note, without range checks. Throws: Json::exception when a field is missing or not a
// number.
Note note_from_json(const Json& json);

}  // namespace hum::audio
