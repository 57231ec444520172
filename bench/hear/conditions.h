// The conditions of hear-synthetic and hear-sure, as bench/hear/conditions.json lists them.
#pragma once

#include <string>
#include <vector>

#include "bench/scale.h"
#include "data/singing/sung_item.h"
#include "data/synthesis/conditions.h"

namespace hum::bench::hear {

// Who sings, and what lies between the voice and its recording.
struct Condition {
  std::string name;
  double least_f1 = 0;                 // limit of the first voice
  std::string second_voice = "clean";  // --condition of tools/second_voice.py
  data::SungItemOptions singer;        // of the first voice
  data::Conditions sound;              // of both
};

struct ConditionSet {
  int64_t hums = 50;  // of each condition and voice
  uint64_t seed = 0;  // no training uses it
  double seconds = 8;
  std::vector<Condition> conditions;
};

// The smoke form has one short hum, clean and with babble. Throws: kConfig for unknown fields, with
// the condition.
ConditionSet read_conditions(const Scale& scale);

}  // namespace hum::bench::hear
