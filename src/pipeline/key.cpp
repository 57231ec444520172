#include "pipeline/key.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using Profile = std::array<double, 12>;

constexpr Profile kMajor = {6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88};
constexpr Profile kMinor = {6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17};
constexpr size_t kMinNotes = 5;                          // of an estimated key
constexpr std::array kLetters = {9, 11, 0, 2, 4, 5, 7};  // A to G

int pitch_class(int pitch) { return ((pitch % 12) + 12) % 12; }

// Pearson correlation with the profile rotated to a tonic.
double correlation(const Profile& time_s, const Profile& profile, int tonic) {
  const double mean_x = std::reduce(time_s.begin(), time_s.end()) / 12;
  const double mean_y = std::reduce(profile.begin(), profile.end()) / 12;
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < 12; ++i) {
    const double x = time_s[static_cast<size_t>((i + tonic) % 12)] - mean_x;
    const double y = profile[static_cast<size_t>(i)] - mean_y;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xx > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::string_view name_of(data::Mode mode) {
  if (mode == data::Mode::kIonian) return "major";
  if (mode == data::Mode::kAeolian) return "minor";
  return data::mode_name(mode);
}

double mean_bend(const Note& note) {
  if (note.bends.empty()) return 0;
  return static_cast<double>(std::reduce(note.bends.begin(), note.bends.end())) /
         static_cast<double>(note.bends.size());
}

}  // namespace

Key parse_key(std::string_view text) {
  const auto colon = text.find(':');
  std::string tonic = lower_case(text.substr(0, colon)), mode = "major";
  if (colon != std::string_view::npos) {
    mode = lower_case(text.substr(colon + 1));
  } else if (text.ends_with('m')) {  // "F#m"
    tonic.pop_back();
    mode = "minor";
  }
  Key key;
  bool sound = !tonic.empty() && tonic[0] >= 'a' && tonic[0] <= 'g';
  if (sound) key.tonic = kLetters[static_cast<size_t>(tonic[0] - 'a')];
  for (size_t i = 1; i < tonic.size(); ++i) {
    sound = sound && (tonic[i] == '#' || tonic[i] == 'b');
    key.tonic += tonic[i] == '#' ? 1 : -1;
  }
  key.tonic = pitch_class(key.tonic);
  bool known = false;
  for (int i = 0; i < data::kModes && !known; ++i) {
    key.mode = static_cast<data::Mode>(i);
    known = mode == data::mode_name(key.mode) || mode == name_of(key.mode);
  }
  if (!sound || !known) {
    fail(ExitCode::kUsage, fmt::format("'{}' is not a key", text),
         "write C:minor, F#:major or D:dorian; the modes are major, minor, ionian, dorian, "
         "phrygian, lydian, mixolydian, aeolian, locrian");
  }
  return key;
}

std::string key_name(const Key& key) {
  return fmt::format("{}:{}", pitch_name(key, key.tonic), name_of(key.mode));
}

std::string pitch_name(const Key& key, int pitch) {
  // Places on the line of fifths: F -1, C 0, G 1, ... F# 6. With s sharps the key has the places
  // s - 1 to s + 5. The five others lie around these; in minor above them, for raised degrees.
  constexpr std::string_view kLetters = "FCGDAEB";
  const auto [sharps, minor] = key_signature(key);
  const int lowest = sharps - (minor ? 1 : 4);
  const int place = lowest + pitch_class(7 * pitch - lowest);
  const int above_f = place + 1;
  const int accidentals = above_f >= 0 ? above_f / 7 : -((6 - above_f) / 7);
  std::string name(1, kLetters[static_cast<size_t>(above_f - 7 * accidentals)]);
  name.append(static_cast<size_t>(std::abs(accidentals)), accidentals > 0 ? '#' : 'b');
  return name;
}

audio::KeySignature key_signature(const Key& key) {
  // The major key with the same notes; each fifth above C adds a sharp.
  const int major =
      pitch_class(key.tonic - data::mode_semitone(data::Mode::kIonian, static_cast<int>(key.mode)));
  const int fifths = major * 7 % 12;
  const bool minor = key.mode == data::Mode::kAeolian;
  return {.sharps = fifths > (minor ? 5 : 6) ? fifths - 12 : fifths, .minor = minor};
}

bool in_key(const Key& key, int pitch) {
  for (int degree = 0; degree < 7; ++degree) {
    if (pitch_class(pitch - key.tonic) == data::mode_semitone(key.mode, degree)) return true;
  }
  return false;
}

std::optional<KeyEstimate> estimate_key(std::span<const Note> notes) {
  if (notes.size() < kMinNotes) return std::nullopt;
  Profile time_s{};
  for (const Note& note : notes) {
    time_s[static_cast<size_t>(pitch_class(note.pitch))] += note.end_s - note.start_s;
  }
  std::vector<KeyEstimate> keys;
  for (int tonic = 0; tonic < 12; ++tonic) {
    keys.push_back({{tonic, data::Mode::kIonian}, correlation(time_s, kMajor, tonic), 0});
    keys.push_back({{tonic, data::Mode::kAeolian}, correlation(time_s, kMinor, tonic), 0});
  }
  std::ranges::stable_sort(keys, std::greater{}, &KeyEstimate::correlation);
  keys[0].margin = keys[0].correlation - keys[1].correlation;
  return keys[0];
}

int64_t snap_to_key(std::span<Note> notes, const Key& key) {
  int64_t moved = 0;
  for (Note& note : notes) {
    if (in_key(key, note.pitch)) continue;
    // Adjacent notes of a mode are at most a whole tone apart.
    const int toward = mean_bend(note) > 0 ? 1 : -1;
    const int to = in_key(key, note.pitch + toward) ? note.pitch + toward : note.pitch - toward;
    if (to < 0 || to > 127) continue;
    note.pitch = to;
    ++moved;
  }
  return moved;
}

}  // namespace hum::pipeline
