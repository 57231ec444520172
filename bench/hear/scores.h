// Figures of heard notes against known ones: 50 ms, 50 cents by the sung pitch.
#pragma once

#include <vector>

#include "base/json.h"
#include "bench/hear/ears.h"
#include "eval/harness/bar.h"

namespace hum::bench::hear {

// Collects sounds; a score is the mean over them.
class Tally {
 public:
  void add(const std::vector<eval::PitchedNote>& known, const Notes& heard);

  double f1() const { return mean(f1_); }
  // By onsets alone, and with ends within 20 % of the note or 50 ms.
  double onset_f1() const { return mean(onset_f1_); }
  double ends_f1() const { return mean(ends_f1_); }
  // Of the matched notes of all sounds; NaN without any. Medians of how late an onset is heard, and
  // of its distance.
  double onset_ms() const;
  double onset_distance_ms() const;
  Json figures() const;

 private:
  double mean(double sum) const { return count_ > 0 ? sum / count_ : 0; }

  double count_ = 0, f1_ = 0, precision_ = 0, recall_ = 0, onset_f1_ = 0, ends_f1_ = 0;
  std::vector<double> late_ms_;
};

// Which of the heard notes are right.
std::vector<bool> right_notes(const std::vector<eval::PitchedNote>& known, const Notes& heard);

// Whether both have the same number of notes, and these agree within 50 ms and 50 cents.
bool are_same(const Notes& a, const Notes& b);

// A table of tallies: one row per place and listener.
class ScoreTable {
 public:
  void row(const std::string& place, const std::string& listener, const Tally& tally);
  std::string text() const { return table_.text(); }

 private:
  eval::TextTable table_{
      {"", "listener", "F1", "onset F1", "F1 with ends", "onset ms", "distance"}};
};

}  // namespace hum::bench::hear
