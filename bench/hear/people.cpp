// hear-people: annotated recordings of people, as recorded and with noise, mains hum and rooms. The
// rooms' responses and the noises are drawn from streams that no training uses.
#include <cmath>
#include <iostream>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "bench/hear/scores.h"
#include "data/synthesis/conditions.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/harness/annotation.h"

namespace hum::bench {
namespace {

using hear::Sound;
using hear::Tally;
using models::ear::DecoderOptions;

struct Setting {
  const char* name;
  double least_f1;
  data::Conditions sound;
};
const Setting kSettings[] = {{"clean", 0.82, {}},
                             {"white 20 dB", 0.80, {.white_db = -20}},
                             {"white 10 dB", 0.76, {.white_db = -10}},
                             {"mains -30 dB", 0.80, {.mains_db = -30}},
                             {"room 0.4 s", 0.78, {.room_s = 0.4}},
                             {"room 1.0 s", 0.70, {.room_s = 1}}};
constexpr double kLeastOnsetF1 = 0.87, kLeastEndsF1 = 0.70, kMaxOnset_ms = 10;
constexpr double kMoved = 0.25, kLeastMovedF1 = 0.79;
constexpr uint64_t kSeed = 20261126;
// Rooms and noises drawn for each setting; their mean counts.
constexpr int kDraws = 3;
constexpr double kSmokeSeconds = 6;

struct Clip {
  Sound sound;
  std::vector<std::vector<eval::PitchedNote>> annotators;
};

std::vector<Clip> read_clips(const Scale& scale) {
  const auto folder = scale.annotated.empty() ? hear::voices_folder() / "vocadito"
                                              : std::filesystem::path(scale.annotated);
  std::vector<Clip> clips;
  for (const auto& recording : eval::annotated_recordings(folder)) {
    Clip clip{hear::read_sound(recording.sound), {}};
    for (const auto& path : recording.annotations) {
      clip.annotators.push_back(eval::read_annotation(path));
    }
    if (scale.smoke) {
      clip.sound.resize(static_cast<size_t>(data::sample_of(kSmokeSeconds)));
      for (auto& notes : clip.annotators) {
        std::erase_if(notes, [](const auto& note) { return note.end_s > kSmokeSeconds; });
      }
    }
    clips.push_back(std::move(clip));
  }
  return clips;
}

// The clips in a setting, once for each draw.
std::vector<Sound> sounds_in(const Setting& setting, const std::vector<Clip>& clips, int draws) {
  std::vector<Sound> sounds;
  for (int draw = 0; draw < draws; ++draw) {
    for (const Clip& clip : clips) {
      Rng rng(kSeed, fmt::format("hear-people {}", setting.name), sounds.size());
      sounds.push_back(clip.sound);
      data::apply(setting.sound, {}, rng, sounds.back());
    }
  }
  return sounds;
}

Tally tally_of(const std::vector<Clip>& clips, const std::vector<hear::Notes>& heard) {
  Tally tally;
  for (size_t i = 0; i < heard.size(); ++i) {
    for (const auto& known : clips[i % clips.size()].annotators) tally.add(known, heard[i]);
  }
  return tally;
}

// Each annotator against the others.
Json annotators_figures(const std::vector<Clip>& clips) {
  Tally tally;
  for (const Clip& clip : clips) {
    for (const auto& known : clip.annotators) {
      for (const auto& other : clip.annotators) {
        if (&known == &other) continue;
        hear::Notes notes;
        for (const auto& note : other) notes.push_back({note.start_s, note.end_s, note.hz});
        tally.add(known, notes);
      }
    }
  }
  return tally.figures();
}

// Multiplies one of the decoder's constants.
struct Move {
  int which;
  double factor;
  std::string name = {};  // of the constant; empty: there are fewer
  int seen = 0;

  template <class T>
  void operator()(std::string_view field, T& value, std::string_view /*help*/) {
    if (seen++ != which) return;
    name = field;
    value = static_cast<T>(factor * static_cast<double>(value));
  }
};

// F1 with each constant of the decoder moved in turn; adds the figures to the bar.
void move_constants(const hear::Ears& ears, const std::vector<Clip>& clips, eval::Bar& bar) {
  std::vector<models::ear::Frames> frames;
  for (const Clip& clip : clips) frames.push_back(ears.ear().listen(data::levelled(clip.sound)));
  double least = std::numeric_limits<double>::infinity();
  for (int which = 0;; ++which) {
    for (const double factor : {1 - kMoved, 1 + kMoved}) {
      DecoderOptions options;
      Move move{.which = which, .factor = factor};
      options.visit_fields(move);
      if (move.name.empty()) {
        bar.checks.at_least("least F1 with a constant moved", least, kLeastMovedF1);
        return;
      }
      std::vector<hear::Notes> heard;
      for (const auto& one : frames) heard.push_back(hear::decoded(one, options));
      const double f1 = tally_of(clips, heard).f1();
      bar.ours["constants"][fmt::format("{} x {}", move.name, factor)] = f1;
      least = std::min(least, f1);
    }
  }
}

void check(const Setting& setting, const Tally& ours, const Tally* swift_f0, eval::Bar& bar) {
  const std::string where = fmt::format(", {}", setting.name);
  bar.checks.at_least("F1" + where, ours.f1(), setting.least_f1);
  if (swift_f0 != nullptr) {
    bar.checks.holds("above swift-f0" + where, ours.f1() > swift_f0->f1());
  }
  if (&setting != std::begin(kSettings)) return;
  bar.value = ours.f1();
  bar.checks.at_least("onset F1", ours.onset_f1(), kLeastOnsetF1);
  bar.checks.at_least("F1 with ends", ours.ends_f1(), kLeastEndsF1);
  bar.checks.at_most("onset ms either way", std::abs(ours.onset_ms()), kMaxOnset_ms);
}

void measure(const hear::Ears& ears, const std::vector<Clip>& clips, int draws, eval::Bar& bar) {
  hear::ScoreTable table;
  for (const Setting& setting : kSettings) {
    spdlog::info("hear-people: {}", setting.name);
    const bool is_clean = &setting == std::begin(kSettings);
    const auto sounds = sounds_in(setting, clips, is_clean ? 1 : draws);
    std::optional<Tally> ours, swift_f0;
    for (const hear::Listener& listener : ears.all()) {
      const Tally tally = tally_of(clips, listener.listen(sounds));
      const bool is_ours = &listener == &ears.ours();
      (is_ours ? bar.ours : bar.peer[listener.name])[setting.name] = tally.figures();
      table.row(setting.name, listener.name, tally);
      if (is_ours) ours = tally;
      if (listener.name == hear::kSwiftF0) swift_f0 = tally;
    }
    check(setting, *ours, swift_f0 ? &*swift_f0 : nullptr, bar);
  }
  std::cerr << table.text();
}

}  // namespace

eval::Bar hear_people(const Scale& scale) {
  eval::Bar bar{.name = "hear-people",
                .unit = "note F1, mean of the annotators",
                .bar = fmt::format(
                    "note F1 (50 ms, 50 cents, the sung pitch) >= 0.82, white noise at 20 and 10 "
                    "dB >= 0.80 and 0.76, mains hum at -30 dB >= 0.80, rooms of 0.4 and 1.0 s >= "
                    "0.78 and 0.70, each above swift-f0; onset F1 >= {}; F1 with ends >= {}; "
                    "median onset within {} ms; with each constant of the decoder {} % lower and "
                    "higher >= {}",
                    kLeastOnsetF1, kLeastEndsF1, kMaxOnset_ms, 100 * kMoved, kLeastMovedF1)};
  if (scale.annotated.empty()) bar.reason = hear::recordings_missing();
  if (!bar.reason.empty()) return bar;
  const auto clips = read_clips(scale);
  const hear::Ears ears(scale);
  bar.ours["listener"] = ears.ours().name;
  bar.ours["recordings"] = clips.size();
  measure(ears, clips, scale.smoke ? 1 : kDraws, bar);
  move_constants(ears, clips, bar);
  bar.peer["annotators against each other"] = annotators_figures(clips);
  return bar;
}

}  // namespace hum::bench
