// hear-octave: the octave that every preset plays every recording in. It must be the rule's
// (pipeline/octave.h, stated here a second time), and sounds that are no melody must not move it.
// Makes no sound of an instrument.
#include "pipeline/octave.h"

#include <cstdlib>
#include <iostream>
#include <numbers>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "data/synthesis/conditions.h"
#include "data/synthesis/knock.h"
#include "data/synthesis/level.h"
#include "data/synthesis/presets.h"
#include "data/synthesis/timing.h"

namespace hum::bench {
namespace {

using hear::Sound;

constexpr uint64_t kSeed = 20261128;
constexpr double kGap_s = 0.2, kBuzz_s = 0.08, kBuzz_hz = 40, kThump_hz = 60, kMains_db = -30;
constexpr double kEnough = 0.95, kMinVoter_s = 0.1, kMinConfidence = 0.5;

Sound with_silence_after(Sound sound, double seconds) {
  sound.resize(sound.size() + static_cast<size_t>(data::sample_of(seconds)));
  return sound;
}

Sound with_buzz_after(const Sound& sound) {
  Sound result = with_silence_after(sound, 2 * kGap_s + kBuzz_s);
  const double peak = data::active_rms(sound) * std::numbers::sqrt2;
  const auto first = sound.size() + static_cast<size_t>(data::sample_of(kGap_s));
  for (int64_t i = 0; i < data::sample_of(kBuzz_s); ++i) {
    const double time_s = static_cast<double>(i) / data::kSampleRate;
    result[first + static_cast<size_t>(i)] =
        static_cast<float>(peak * std::sin(2 * std::numbers::pi * kBuzz_hz * time_s));
  }
  return result;
}

Sound with_thump_after(const Sound& sound) {
  Sound result = with_silence_after(sound, 1);
  const double end_s = static_cast<double>(sound.size()) / data::kSampleRate;
  data::add_knock(end_s + kGap_s, kThump_hz, 3 * data::active_rms(sound), result);
  return result;
}

Sound with_mains(Sound sound) {
  Rng rng(kSeed, "hear-octave");
  data::apply({.mains_db = kMains_db}, {}, rng, sound);
  return sound;
}

struct Addition {
  const char* name;
  Sound (*add)(const Sound& sound);
};
const Addition kAdditions[] = {{"80 ms at 40 Hz after it", with_buzz_after},
                               {"mains hum", [](const Sound& sound) { return with_mains(sound); }},
                               {"a thump after it", with_thump_after}};

// Of the notes' time that votes, the share in the range after a move by octaves.
double share_inside(const hear::Notes& notes, const pipeline::PitchRange& range, int octave) {
  const auto votes = [](const hear::Heard& note) {
    return note.end_s - note.start_s >= kMinVoter_s && note.confidence >= kMinConfidence;
  };
  const bool all_vote = std::ranges::none_of(notes, votes);
  double inside_s = 0, total_s = 0;
  for (const hear::Heard& note : notes) {
    if (!all_vote && !votes(note)) continue;
    const int pitch = note.pitch + 12 * octave;
    total_s += note.end_s - note.start_s;
    if (pitch >= range.low && pitch <= range.high) inside_s += note.end_s - note.start_s;
  }
  return total_s > 0 ? inside_s / total_s : 0;
}

// The nearest octave with at least 95 %, upward on a tie; else the one with most, nearer first.
int rule_octave(const hear::Notes& notes, const pipeline::PitchRange& range) {
  int best = 0;
  for (int distance = 0; distance <= 8; ++distance) {
    for (const int octave : {distance, -distance}) {
      const double share = share_inside(notes, range, octave);
      if (share >= kEnough) return octave;
      if (share > share_inside(notes, range, best)) best = octave;
    }
  }
  return best;
}

// hum's choice for each preset, in table order.
std::vector<int> octaves(const hear::Notes& heard) {
  std::vector<audio::Note> notes;
  for (const auto& note : heard) {
    notes.push_back({note.start_s, note.end_s, note.pitch, note.confidence, {}});
  }
  std::vector<int> result;
  for (const data::Preset& preset : data::presets()) {
    result.push_back(pipeline::choose_octave(notes, {preset.low, preset.high}).octave);
  }
  return result;
}

int64_t breaks_rule(const hear::Notes& heard, const std::vector<int>& chosen) {
  int64_t count = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const data::Preset& preset = data::presets()[i];
    count += chosen[i] == rule_octave(heard, {preset.low, preset.high}) ? 0 : 1;
  }
  return count;
}

int64_t differing(const std::vector<int>& a, const std::vector<int>& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

// Of all recordings and presets: how many break the rule, and how many each addition moves.
Json measure(const hear::Listener& listener, const std::vector<Sound>& sounds) {
  const auto heard = listener.listen(sounds);
  std::vector<std::vector<int>> chosen;
  int64_t broken = 0;
  for (const auto& notes : heard) {
    chosen.push_back(octaves(notes));
    broken += breaks_rule(notes, chosen.back());
  }
  Json result = {{"against the rule", broken}};
  for (const Addition& addition : kAdditions) {
    spdlog::info("hear-octave: {}, {}", listener.name, addition.name);
    std::vector<Sound> with;
    for (const Sound& sound : sounds) with.push_back(addition.add(sound));
    const auto heard_with = listener.listen(with);
    int64_t moved = 0;
    for (size_t i = 0; i < sounds.size(); ++i)
      moved += differing(chosen[i], octaves(heard_with[i]));
    result[fmt::format("moved by {}", addition.name)] = moved;
  }
  return result;
}

}  // namespace

eval::Bar hear_octave(const Scale& scale) {
  eval::Bar bar{.name = "hear-octave",
                .unit = "octaves moved by additions",
                .bar =
                    "all recordings on every preset: the rule's octave; 80 ms at 40 Hz after "
                    "the end, mains hum at -30 dB or a 60 Hz thump after the end move none",
                .reason = hear::recordings_missing()};
  if (!bar.reason.empty()) return bar;
  const hear::Ears ears(scale);
  std::vector<Sound> sounds;
  for (const auto& path : hear::all_recordings()) {
    if (!scale.smoke || sounds.empty()) sounds.push_back(hear::read_sound(path));
  }
  eval::TextTable table({"listener", "octaves", "count"});
  for (const hear::Listener& listener : ears.all()) {
    const Json counts = measure(listener, sounds);
    int64_t moved = 0;
    for (const auto& [what, count] : counts.items()) {
      const auto number = count.get<int64_t>();
      table.row({listener.name, what, std::to_string(number)});
      if (what != "against the rule") moved += number;
      if (&listener == &ears.ours()) bar.checks.at_most(what, static_cast<double>(number), 0);
    }
    if (&listener == &ears.ours()) {
      bar.value = moved;
    } else {
      bar.peer[listener.name] = counts;
    }
  }
  bar.ours["listener"] = ears.ours().name;
  bar.ours["recordings"] = sounds.size();
  bar.ours["presets"] = data::presets().size();
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
