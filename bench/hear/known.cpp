// hear-known: recordings of people whose notes are plain to hear, judged by the written pitches;
// and each 30 dB softer in 16 bits, which must give the same notes.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "audio/loudness.h"
#include "base/error.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "bench/hear/scores.h"

namespace hum::bench {
namespace {

constexpr double kSofter_db = -30, kSteps = 32768;  // of 16 bits

struct Take {
  const char* name;
  const char* file;             // below the recordings' folder
  std::vector<int> intervals;   // between all of its notes, in semitones
  std::vector<int> first = {};  // or the pitches of its first notes, MIDI; others may follow
};
// D5 C#5 B4 A4 B4 A4 G4 F#4 G4.
const std::vector<int> kTune = {74, 73, 71, 69, 71, 69, 67, 66, 67};
const Take kTakes[] = {{"hummed", "birdsongqbh/f0curve_hum.wav", {2, 2, -2, -2}},
                       {"sung", "birdsongqbh/f0curve_sing.wav", {2, 2, -2, -2}},
                       {"whistled", "birdsongqbh/f0curve_whistle.wav", {2, 2, -2, -2}},
                       {"soprano-E4", "sms-tools/soprano-E4.wav", {}},
                       {"vocal_hum_1", "olpc-berklee/vocal_hum_1.mp3", {}},
                       {"vocal_hum_2", "olpc-berklee/vocal_hum_2.mp3", {}},
                       {"straight", "vocalset/vocalset_female1_straight.wav", {}, kTune},
                       {"vibrato", "vocalset/vocalset_female1_vibrato.wav", {}, kTune}};

// One of the notes may be a semitone off.
bool begins_with(const hear::Notes& notes, const std::vector<int>& pitches) {
  if (notes.size() < pitches.size()) return false;
  int off = 0;
  for (size_t i = 0; i < pitches.size(); ++i) {
    const int distance = std::abs(notes[i].pitch - pitches[i]);
    if (distance > 1) return false;
    off += distance;
  }
  return off <= 1;
}

bool is_right(const Take& take, const hear::Notes& notes) {
  if (!take.first.empty()) return begins_with(notes, take.first);
  if (notes.size() != take.intervals.size() + 1) return false;
  for (size_t i = 0; i < take.intervals.size(); ++i) {
    if (notes[i + 1].pitch - notes[i].pitch != take.intervals[i]) return false;
  }
  return true;
}

std::vector<hear::Sound> read_takes(bool softer) {
  std::vector<hear::Sound> sounds;
  for (const Take& take : kTakes) {
    sounds.push_back(hear::read_sound(hear::voices_folder() / take.file));
    if (!softer) continue;
    const double steps = kSteps * audio::from_db(kSofter_db);
    for (float& sample : sounds.back()) {
      sample = static_cast<float>(std::nearbyint(steps * sample) / kSteps);
    }
  }
  return sounds;
}

Json pitches_of(const hear::Notes& notes) {
  Json pitches = Json::array();
  for (const auto& note : notes) pitches.push_back(note.pitch);
  return pitches;
}

}  // namespace

eval::Bar hear_known(const Scale& scale) {
  eval::Bar bar{.name = "hear-known",
                .unit = "recordings right of 8",
                .bar =
                    "do-re-mi-re-do hummed, sung, whistled: 5 notes, +2 +2 -2 -2; soprano-E4, "
                    "vocal_hum_1, vocal_hum_2: 1 note; a tune sung straight and with vibrato: "
                    "its first nine notes, one may be a semitone off; each 30 dB softer: the "
                    "same notes",
                .reason = hear::recordings_missing()};
  if (!bar.reason.empty()) return bar;
  const hear::Ears ears(scale);
  bar.ours["listener"] = ears.ours().name;
  const auto loud = read_takes(false), soft = read_takes(true);
  eval::TextTable table({"recording", "listener", "notes", "right", "the same 30 dB softer"});
  for (const hear::Listener& listener : ears.all()) {
    const auto heard = listener.listen(loud), heard_soft = listener.listen(soft);
    const bool is_ours = &listener == &ears.ours();
    int right = 0;
    for (size_t i = 0; i < std::size(kTakes); ++i) {
      const Take& take = kTakes[i];
      const bool is_take_right = is_right(take, heard[i]);
      const bool is_same = hear::are_same(heard[i], heard_soft[i]);
      right += is_take_right ? 1 : 0;
      if (is_ours) {
        bar.checks.holds(take.name, is_take_right);
        bar.checks.holds(fmt::format("{}, the same 30 dB softer", take.name), is_same);
      }
      (is_ours ? bar.ours["heard"] : bar.peer[listener.name])[take.name] = pitches_of(heard[i]);
      table.row({take.name, listener.name, std::to_string(heard[i].size()),
                 is_take_right ? "yes" : "no", is_same ? "yes" : "no"});
    }
    if (is_ours) bar.value = right;
    if (!is_ours) bar.peer[listener.name]["right"] = right;
  }
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
