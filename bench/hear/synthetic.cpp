// hear-synthetic: hums with known notes by two voices, in every condition of
// bench/hear/conditions.json. The first voice is of the kind that the ear learns from, the second
// shares no code with it. The gap between them predicts what real singers will cost.
#include <algorithm>
#include <iostream>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/hum_sets.h"
#include "bench/hear/scores.h"

namespace hum::bench {
namespace {

using hear::Tally;

constexpr double kSecondVoiceLess = 0.05, kMaxOnset_ms = 10;

Tally tally_of(const std::vector<hear::KnownSound>& hums, const std::vector<hear::Notes>& heard) {
  Tally tally;
  for (size_t i = 0; i < hums.size(); ++i) tally.add(hums[i].notes, heard[i]);
  return tally;
}

void check(const std::string& place, const Tally& tally, double least_f1, eval::Bar& bar) {
  bar.checks.at_least("F1, " + place, tally.f1(), least_f1);
  bar.checks.at_most("onset ms, " + place, tally.onset_distance_ms(), kMaxOnset_ms);
  bar.value = std::min(bar.value.get<double>(), tally.f1() - least_f1);
}

// All conditions sung by one voice. Returns the mean F1 of each listener.
Json measure(const std::string& voice, const hear::ConditionSet& set, const hear::Ears& ears,
             eval::Bar& bar) {
  hear::ScoreTable table;
  const double less = voice == hear::kSecondVoice ? kSecondVoiceLess : 0;
  Json means = Json::object();
  for (const hear::Condition& condition : set.conditions) {
    spdlog::info("hear-synthetic: {}, {}", voice, condition.name);
    const auto hums = hear::make_hums(voice, condition, set);
    const auto sounds = hear::sounds_of(hums);
    for (const hear::Listener& listener : ears.all()) {
      const Tally tally = tally_of(hums, listener.listen(sounds));
      const bool is_ours = &listener == &ears.ours();
      if (is_ours) {
        check(fmt::format("{}, {}", voice, condition.name), tally, condition.least_f1 - less, bar);
      }
      (is_ours ? bar.ours : bar.peer[listener.name])[voice][condition.name] = tally.figures();
      table.row(condition.name, listener.name, tally);
      means[listener.name] =
          means.value(listener.name, 0.0) + tally.f1() / static_cast<double>(set.conditions.size());
    }
  }
  std::cerr << voice << '\n' << table.text();
  return means;
}

}  // namespace

eval::Bar hear_synthetic(const Scale& scale) {
  const hear::ConditionSet set = hear::read_conditions(scale);
  const hear::Ears ears(scale);
  eval::Bar bar{.name = "hear-synthetic",
                .value = std::numeric_limits<double>::max(),
                .unit = "smallest note F1 less its limit",
                .bar = fmt::format(
                    "{} hums of each voice and condition: note F1 (50 ms, 50 cents) of the first "
                    "voice >= 0.95 clean, legato, 40 cents off and with wide vibrato, >= 0.75 in a "
                    "room of 1.0 s, >= 0.70 in white noise at 10 dB, >= 0.85 otherwise; of the "
                    "second voice {} less; median onset error <= {} ms",
                    set.hums, kSecondVoiceLess, kMaxOnset_ms)};
  bar.ours["listener"] = ears.ours().name;
  bar.ours["mean F1"][hear::kFirstVoice] = measure(hear::kFirstVoice, set, ears, bar);
  bar.reason = hear::second_voice_missing();
  if (bar.reason.empty()) {
    bar.ours["mean F1"][hear::kSecondVoice] = measure(hear::kSecondVoice, set, ears, bar);
  } else {
    spdlog::info("hear-synthetic: {}", bar.reason);
  }
  return bar;
}

}  // namespace hum::bench
