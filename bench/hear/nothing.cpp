// hear-nothing: sound without a voice. Steady noises, mains hum, thumps, and rooms in which someone
// breathes, whispers and knocks.
#include <iostream>

#include "base/error.h"
#include "bench/bars.h"
#include "bench/hear/ears.h"
#include "data/singing/sung_item.h"
#include "data/synthesis/conditions.h"
#include "data/synthesis/timing.h"

namespace hum::bench {
namespace {

constexpr double kMaxNotesPerMinute = 1;
constexpr double kSeconds = 60, kSmokeSeconds = 3;  // of each sound
constexpr uint64_t kSeed = 20261127;

struct Place {
  const char* name;
  bool has_person;  // who breathes, whispers, knocks and clicks
  data::Conditions sound;
};
const Place kPlaces[] = {
    {"white noise", false, {.white_db = -10}},
    {"pink noise", false, {.pink_db = -10}},
    {"mains 50 Hz", false, {.mains_db = -20}},
    {"mains 60 Hz and noise", false, {.white_db = -40, .mains_db = -20, .mains_hz = 60}},
    {"thumps", false, {.pink_db = -50, .thumps_db = 0}},
    {"clicks", false, {.pink_db = -50, .clicks_db = 0}},
    {"quiet room", true, {.room_s = 0.4, .pink_db = -40}},
    {"large room", true, {.room_s = 1, .pink_db = -40}},
    {"noisy room", true, {.room_s = 0.6, .pink_db = -15, .thumps_db = -10}},
    {"phone", true, {.white_db = -25, .low_cut_hz = 300, .high_cut_hz = 3400}}};

hear::Sound sound_of(const Place& place, double seconds, uint64_t index) {
  hear::Sound sound(static_cast<size_t>(data::sample_of(seconds)));
  if (place.has_person) {
    sound = data::make_sung_item(kSeed, index, {.seconds = seconds, .silent_share = 1}).samples;
  }
  Rng rng(kSeed, "hear-nothing", index);
  data::apply(place.sound, {}, rng, sound);
  return sound;
}

}  // namespace

eval::Bar hear_nothing(const Scale& scale) {
  const double seconds = scale.smoke ? kSmokeSeconds : kSeconds;
  std::vector<hear::Sound> sounds;
  for (const Place& place : kPlaces) sounds.push_back(sound_of(place, seconds, sounds.size()));
  const double minutes = static_cast<double>(sounds.size()) * seconds / 60;
  sounds.emplace_back(static_cast<size_t>(data::sample_of(seconds)));  // silence
  const hear::Ears ears(scale);
  eval::Bar bar{.name = "hear-nothing",
                .unit = "notes a minute",
                .bar = fmt::format("<= {} in {} min of noise, hum, thumps, and rooms where nobody "
                                   "sings or speaks; in silence none",
                                   kMaxNotesPerMinute, minutes)};
  bar.ours["listener"] = ears.ours().name;
  eval::TextTable table({"sound", "listener", "notes"});
  for (const hear::Listener& listener : ears.all()) {
    const auto heard = listener.listen(sounds);
    Json notes = Json::object();
    int64_t count = 0;
    for (size_t i = 0; i < std::size(kPlaces); ++i) {
      notes[kPlaces[i].name] = heard[i].size();
      count += std::ssize(heard[i]);
      table.row({kPlaces[i].name, listener.name, std::to_string(heard[i].size())});
    }
    const double rate = static_cast<double>(count) / minutes;
    if (&listener == &ears.ours()) {
      bar.value = rate;
      bar.checks.at_most("notes a minute", rate, kMaxNotesPerMinute);
      bar.checks.at_most("notes in silence", static_cast<double>(heard.back().size()), 0);
      bar.ours["notes"] = notes;
    } else {
      bar.peer[listener.name] = {{"notes a minute", rate}, {"notes", notes}};
    }
  }
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
