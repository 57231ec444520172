// Notes as JSON, and what is wrong with JSON that is meant to be a note.
#include "audio/notes_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "audio/notes_impl.h"
#include "base/error.h"
#include "base/json.h"
#include "base/names.h"

namespace hum::audio {
namespace {

constexpr std::array kRequired = {"start", "end", "pitch"};
constexpr std::array kNumbers = {"start", "end", "pitch", "amplitude", "hz", "confidence"};
constexpr std::array<std::string_view, 9> kKeys = {
    "start", "end", "pitch", "amplitude", "bends", "hz", "confidence", "name", "cents"};
constexpr const char* kHint =
    "a note has start, end and pitch, and may have amplitude, bends, hz and confidence";
// Of a value in a message.
constexpr size_t kMostShown = 40;

// `note`: which one.
[[noreturn]] void refuse(const std::string& note, const std::string& fault,
                         const std::string& hint = kHint) {
  fail(ExitCode::kBadData, note + ": " + fault, hint);
}

// "600", "\"high\"", "an array".
std::string shown(const Json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  const std::string text = to_text(value);
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "...";
}

void require_known_keys(const Json& json, const std::string& note) {
  if (!json.is_object()) return;
  for (const auto& [key, unused] : json.items()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    const auto nearest = nearest_names(key, {kKeys.begin(), kKeys.end()}, 1);
    refuse(note, fmt::format("there is no key '{}'", key),
           fmt::format("the nearest one is '{}'; {}", nearest[0], kHint));
  }
}

void require_bends(const Json& bends, const std::string& note) {
  if (bends.is_null()) return;
  if (!bends.is_array()) refuse(note, fmt::format("bends is {}, not a list", shown(bends)));
  for (const Json& bend : bends) {
    if (bend.is_number() && std::abs(bend.get<double>()) <= kMaxBend) continue;
    refuse(note,
           fmt::format("bend {} is not a number from {} to {}", shown(bend), -kMaxBend, kMaxBend));
  }
}

// Throws: kBadData if note_from_json would throw or could not keep a value.
void require_note(const Json& json, const std::string& note) {
  if (!json.is_object()) refuse(note, "is " + shown(json));
  for (const char* key : kRequired) {
    if (!json.contains(key)) refuse(note, fmt::format("it has no '{}'", key));
  }
  for (const char* key : kNumbers) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_number()) continue;
    refuse(note, fmt::format("{} is {}, not a number", key, shown(*found)));
  }
  const Json& pitch = json["pitch"];
  if (const double value = pitch.get<double>(); !(value > -0.5 && value < 127.5)) {
    refuse(note, fmt::format("pitch {} is outside 0..127", shown(pitch)));
  }
  if (const auto bends = json.find("bends"); bends != json.end()) require_bends(*bends, note);
}

std::string name_of_note(const std::string& where, size_t index) {
  return fmt::format("{}: note {}", where, index + 1);
}

}  // namespace

std::vector<Note> parse_notes(const Json& list, const std::string& where) {
  std::vector<Note> notes;
  for (const Json& item : list) {
    require_note(item, name_of_note(where, notes.size()));
    notes.push_back(note_from_json(item));
  }
  return notes;
}

Json to_json(const Note& note) {
  Json json = {{"start", note.start_s},
               {"end", note.end_s},
               {"pitch", note.pitch},
               {"name", note_name(note.pitch)}};
  if (note.hz > 0) {
    json["hz"] = note.hz;
    json["cents"] = std::round(10 * cents_of(note)) / 10;
  }
  json["amplitude"] = note.amplitude;
  json["bends"] = note.bends;
  if (note.confidence > 0) json["confidence"] = note.confidence;
  return json;
}

Json to_json(std::span<const Note> notes) {
  Json list = Json::array();
  for (const Note& note : notes) list.push_back(to_json(note));
  return list;
}

Note note_from_json(const Json& json) {
  Note note;
  note.start_s = json.at("start").get<double>();
  note.end_s = json.at("end").get<double>();
  const double pitch = json.at("pitch").get<double>();
  note.pitch = pitch >= -1 && pitch <= 128 ? static_cast<int>(std::lround(pitch)) : -1;
  note.amplitude = json.value("amplitude", note.amplitude);
  note.hz = json.value("hz", note.hz);
  note.confidence = json.value("confidence", note.confidence);
  if (json.contains("bends") && !json["bends"].is_null()) {
    for (const Json& bend : json["bends"]) {
      const double value = bend.get<double>();
      note.bends.push_back(std::abs(value) <= kMaxBend ? static_cast<int>(std::lround(value))
                                                       : kMaxBend + 1);
    }
  }
  return note;
}

std::vector<Note> notes_from_json(const Json& json, const std::string& where) {
  const Json& list = json.is_object() && json.contains("notes") ? json["notes"] : json;
  if (!list.is_array()) {
    fail(ExitCode::kBadData, where + ": is not a list of notes",
         R"(expected [{"start", "end", "pitch", "amplitude", "bends"}])");
  }
  for (size_t i = 0; i < list.size(); ++i) require_known_keys(list[i], name_of_note(where, i));
  return checked_and_sorted(parse_notes(list, where), where);
}

}  // namespace hum::audio
