#include "eval/listening/mushra.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "eval/harness/evaluation.h"

namespace hum::eval {
namespace {

constexpr size_t kIdLetters = 16;

// Null if there is none.
const Json* find_sound(const Json& example, std::string_view row) {
  const Json& sounds = example["sounds"];
  const auto found =
      std::ranges::find_if(sounds, [&](const Json& sound) { return sound["system"] == row; });
  return found == sounds.end() ? nullptr : &*found;
}

Json playable(const Json& example, const Json& sound) {
  return {{"path", sound["sound"]}, {"gain_db", matching_gain_db(example, sound)}};
}

Json stimulus(const Json& example, std::string_view row) {
  const Json* sound = find_sound(example, row);
  HUM_REQUIRE(sound != nullptr, "listening test: '{}' has no sound of '{}'",
              example["title"].get<std::string>(), row);
  Json result = {{"system", row}};
  result.update(playable(example, *sound));
  return result;
}

Json trial_of(const Json& example, const Json& reference, std::span<const std::string> rows) {
  Json hidden = {{"system", kHiddenReference}};
  hidden.update(playable(example, reference));
  Json stimuli = Json::array({std::move(hidden)});
  for (const Anchor& anchor : kAnchors) stimuli.push_back(stimulus(example, anchor.name));
  for (const std::string& row : rows) stimuli.push_back(stimulus(example, row));
  return {{"clip", example["title"]},
          {"reference", playable(example, reference)},
          {"stimuli", std::move(stimuli)}};
}

}  // namespace

double matching_gain_db(const Json& example, const Json& sound) {
  if (!sound["lufs"].is_number()) return 0;  // silence
  const double gain_db = example["level_lufs"].get<double>() - sound["lufs"].get<double>();
  return std::round(100 * gain_db) / 100;
}

Json listening_test(const Json& examples, std::span<const std::string> rows) {
  Json trials = Json::array();
  const std::string reference_row = true_rendering().name;
  for (const Json& example : examples) {
    const Json* reference = find_sound(example, reference_row);
    if (reference != nullptr) trials.push_back(trial_of(example, *reference, rows));
  }
  const std::string id = sha256(to_text(trials)).substr(0, kIdLetters);
  return {{"id", id}, {"trials", std::move(trials)}};
}

}  // namespace hum::eval
