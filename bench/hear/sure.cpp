// hear-sure: a note's confidence is the probability that it is right (50 ms, 50 cents). Hums of
// both voices in all conditions; the second voice is judged. A real singer beside them.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/hum_sets.h"
#include "bench/hear/recordings.h"
#include "bench/hear/scores.h"
#include "eval/harness/annotation.h"
#include "eval/harness/bar.h"

namespace hum::bench {
namespace {

constexpr double kMaxGap = 0.10, kUnsure = 0.5, kLeastWrong = 0.5;

// Notes in ten bins of their confidence.
class Calibration {
 public:
  void add(const std::vector<eval::PitchedNote>& known, const hear::Notes& heard) {
    const auto right = hear::right_notes(known, heard);
    for (size_t i = 0; i < heard.size(); ++i) {
      const double place = heard[i].confidence * static_cast<double>(bins_.size());
      Bin& bin = bins_[std::min(static_cast<size_t>(std::max(0.0, place)), bins_.size() - 1)];
      ++bin.notes;
      bin.confidence += heard[i].confidence;
      bin.right += right[i] ? 1 : 0;
    }
  }

  // Mean distance of a bin's confidence from its share of right notes; each note counts the same.
  double gap() const {
    double sum = 0, notes = 0;
    for (const Bin& bin : bins_) {
      sum += std::abs(bin.confidence - bin.right);
      notes += bin.notes;
    }
    return notes > 0 ? sum / notes : 0;
  }

  void add_rows(const std::string& voice, eval::TextTable& table, Json& figures) const {
    for (size_t i = 0; i < bins_.size(); ++i) {
      const Bin& bin = bins_[i];
      if (bin.notes == 0) continue;
      const std::string name = fmt::format("{:.1f}", static_cast<double>(i) / 10);
      const double confidence = bin.confidence / bin.notes, right = bin.right / bin.notes;
      figures[name] = {{"notes", bin.notes}, {"confidence", confidence}, {"right", right}};
      table.row({voice, name, fmt::format("{:.0f}", bin.notes), fmt::format("{:.2f}", confidence),
                 fmt::format("{:.2f}", right)});
    }
  }

 private:
  struct Bin {
    double notes = 0, confidence = 0, right = 0;
  };
  std::array<Bin, 10> bins_{};
};

Calibration calibrate(const std::string& voice, const hear::ConditionSet& set,
                      const hear::Listener& listener) {
  Calibration calibration;
  for (const hear::Condition& condition : set.conditions) {
    spdlog::info("hear-sure: {}, {}", voice, condition.name);
    const auto hums = hear::make_hums(voice, condition, set);
    const auto heard = listener.listen(hear::sounds_of(hums));
    for (size_t i = 0; i < hums.size(); ++i) calibration.add(hums[i].notes, heard[i]);
  }
  return calibration;
}

// Of the unsure notes in the annotated recordings, the share that is wrong.
void check_people(const hear::Listener& listener, eval::Bar& bar) {
  double unsure = 0, wrong = 0;
  for (const auto& recording : eval::annotated_recordings(hear::voices_folder() / "vocadito")) {
    const std::vector<hear::Sound> sounds = {hear::read_sound(recording.sound)};
    const hear::Notes notes = listener.listen(sounds)[0];
    for (const auto& path : recording.annotations) {
      const auto right = hear::right_notes(eval::read_annotation(path), notes);
      for (size_t i = 0; i < notes.size(); ++i) {
        if (notes[i].confidence >= kUnsure) continue;
        ++unsure;
        wrong += right[i] ? 0 : 1;
      }
    }
  }
  bar.ours["unsure notes of people, of each annotator"] = unsure;
  if (unsure > 0) bar.checks.at_least("people: unsure notes wrong", wrong / unsure, kLeastWrong);
}

}  // namespace

eval::Bar hear_sure(const Scale& scale) {
  const hear::ConditionSet set = hear::read_conditions(scale);
  const hear::Ears ears(scale);
  const hear::Listener& listener = ears.ours();
  eval::Bar bar{
      .name = "hear-sure",
      .unit = "gap between confidence and share right, second voice",
      .bar = fmt::format("second voice, all conditions, ten bins: mean gap <= {}; people: "
                         "of the notes under {} at least half are wrong",
                         kMaxGap, kUnsure)};
  bar.ours["listener"] = listener.name;
  eval::TextTable table({"voice", "bin", "notes", "confidence", "right"});
  const auto measure = [&](const std::string& voice) {
    const Calibration calibration = calibrate(voice, set, listener);
    calibration.add_rows(voice, table, bar.ours[voice]);
    return calibration.gap();
  };
  bar.ours["gap, first voice"] = measure(hear::kFirstVoice);
  bar.reason = hear::second_voice_missing();
  if (bar.reason.empty()) {
    const double gap = measure(hear::kSecondVoice);
    bar.value = gap;
    bar.checks.at_most("gap, second voice", gap, kMaxGap);
  }
  if (const auto missing = hear::recordings_missing(); missing.empty()) {
    check_people(listener, bar);
  } else {
    bar.reason = missing;
  }
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
