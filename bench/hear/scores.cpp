#include "bench/hear/scores.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/quantile.h"

namespace hum::bench::hear {

void Tally::add(const std::vector<eval::PitchedNote>& known, const Notes& heard) {
  const auto notes = pitched(heard);
  const eval::NoteScore score = eval::score_notes(known, notes);
  ++count_;
  f1_ += score.f1;
  precision_ += score.precision;
  recall_ += score.recall;
  constexpr double kAnyPitch = std::numeric_limits<double>::infinity();
  onset_f1_ += eval::score_notes(known, notes, {.pitch_tolerance_cents = kAnyPitch}).f1;
  ends_f1_ += eval::score_notes(known, notes, {.offset_ratio = 0.2}).f1;
  for (const auto& match : eval::match_notes(known, notes)) {
    late_ms_.push_back(1000 * (notes[match.estimate].start_s - known[match.reference].start_s));
  }
}

double Tally::onset_ms() const {
  return late_ms_.empty() ? std::numeric_limits<double>::quiet_NaN() : median(late_ms_);
}

double Tally::onset_distance_ms() const {
  if (late_ms_.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> distances;
  for (const double late : late_ms_) distances.push_back(std::abs(late));
  return median(std::move(distances));
}

Json Tally::figures() const {
  return {{"f1", f1()},
          {"precision", mean(precision_)},
          {"recall", mean(recall_)},
          {"onset_f1", onset_f1()},
          {"ends_f1", ends_f1()},
          {"onset_ms", onset_ms()},
          {"onset_distance_ms", onset_distance_ms()}};
}

std::vector<bool> right_notes(const std::vector<eval::PitchedNote>& known, const Notes& heard) {
  std::vector<bool> right(heard.size(), false);
  for (const auto& match : eval::match_notes(known, pitched(heard))) right[match.estimate] = true;
  return right;
}

bool are_same(const Notes& a, const Notes& b) {
  return a.size() == b.size() && eval::match_notes(pitched(a), pitched(b)).size() == a.size();
}

void ScoreTable::row(const std::string& place, const std::string& listener, const Tally& tally) {
  table_.row({place, listener, fmt::format("{:.3f}", tally.f1()),
              fmt::format("{:.3f}", tally.onset_f1()), fmt::format("{:.3f}", tally.ends_f1()),
              fmt::format("{:+.1f}", tally.onset_ms()),
              fmt::format("{:.1f}", tally.onset_distance_ms())});
}

}  // namespace hum::bench::hear
