// The listening test of a report: what a person hears and rates after ITU-R BS.1534-3 (MUSHRA). The
// form is site/listening.html; its answers are read by answers.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace hum::eval {

// What answers call the reference where it is hidden among the systems.
inline constexpr std::string_view kHiddenReference = "hidden reference";

// Low-pass filtered copies of the reference.
struct Anchor {
  std::string_view name;
  double cutoff_hz = 0;
};
inline constexpr Anchor kAnchors[] = {{"anchor 3.5 kHz", 3500}, {"anchor 7 kHz", 7000}};

// The rows that a test plays unless others are chosen: hum, hum without errors of hearing, and the
// limits of both.
inline constexpr std::string_view kRatedRows[] = {
    "hum", "hum, true notes", "true rendering, heard notes", "guided decoder on true tokens"};
// The standard allows 12 signals in a trial, hidden reference and anchors included.
inline constexpr size_t kMaxRatedRows = 9;

// {"id", "trials": [{"clip", "reference": {"path", "gain_db"},
//                    "stimuli": [{"system", "path", "gain_db"}]}]}
// A trial is an example (Examples::json) with a true rendering, which is the reference; its stimuli
// are the hidden reference, the anchors and the rows. Answers carry the id, which changes with the
// sounds. Throws: kFailure if such an example lacks a row.
Json listening_test(const Json& examples, std::span<const std::string> rows);

// The gain in dB that brings a sound of an example to the level of all its sounds.
double matching_gain_db(const Json& example, const Json& sound);

}  // namespace hum::eval
