// The result of a listening test: means and intervals of the systems' scores over the listeners
// that ITU-R BS.1534-3 does not exclude.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/listening/answers.h"

namespace hum::eval {

struct ScreenedListener {
  std::string listener, file;
  int64_t trials = 0;
  int64_t low_references = 0;  // trials with a score below 90 for the hidden reference
  bool is_excluded = false;    // more than 15 % of the trials are so
};

struct SystemScore {
  std::string system;
  int64_t scores = 0;
  double mean = 0, median = 0;
  double low = 0, high = 0;  // the 95 % interval of the mean; NaN with fewer than two scores
};

struct ListeningScores {
  std::vector<ScreenedListener> listeners;  // as given
  std::vector<SystemScore> systems;         // the best first; none if all listeners are excluded
};

// The interval is mean +- t s / sqrt(n) over all scores of a system: it treats the scores of one
// listener as independent. The standard also screens by scores above 90 for the 7 kHz anchor. That
// rule is left out, because many instruments have nothing to hear above 7 kHz.
// Source: ITU-R BS.1534-3, 4.1.2.
ListeningScores listening_scores(std::span<const Answers> all);

// The t with P(|T| <= t) = confidence under Student's distribution. Degrees of freedom: 1 or more.
double student_t(double confidence, int64_t degrees);

}  // namespace hum::eval
