// How much work a bar measures.
#pragma once

#include <string_view>

namespace hum::bench {

// bench/results contains the full form. The smoke form runs the same code once, on a problem as
// small as the code allows; the tests run it to detect a broken bar. Its figures are meaningless.
struct Scale {
  bool smoke = false;
  int rounds = 5;  // of each contender
  // Training steps: those of the first round, whose losses are compared; those of the others; of
  // each the first ones are not timed, they compile and fill caches.
  int loss_steps = 20, timed_steps = 6, warm_up_steps = 2;
  // The hear bars: weights of the ear instead of the released ones; for hear-people also a folder
  // of annotated recordings (eval/harness/annotation.h). Empty: the usual ones.
  std::string_view ear_weights = {}, annotated = {};
  // sound-references: a folder of recordings of instruments (bench/real_instruments.h) instead of
  // the usual one.
  std::string_view references = {};
  // sound-real, stems-melody: a folder of recordings of singers instead of the usual ones.
  std::string_view singing = {};
  // sound-notes: measures only what hum's figures are divided by.
  bool denominators = false;
};

inline constexpr Scale kFull;
inline constexpr Scale kSmoke{
    .smoke = true, .rounds = 1, .loss_steps = 2, .timed_steps = 2, .warm_up_steps = 1};

}  // namespace hum::bench
