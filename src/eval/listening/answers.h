// The answers of a listener, as listening.html saves them (docs/formats/listening.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hum::eval {

struct RatedTrial {
  std::string clip;
  std::map<std::string, double> scores;  // by system, 0 to 100
};

struct Answers {
  std::string file;      // what messages call them
  std::string test;      // the id of the listening test
  std::string listener;  // a name or a number
  int64_t seed = 0;      // of the order of trials and sounds
  std::vector<RatedTrial> trials;
};

// Throws: what read_json throws; kBadData, naming the trial and the field, unless each trial has
// another clip and scores from 0 to 100, the hidden reference's among them.
Answers read_answers(const std::filesystem::path& path);

// Throws: kBadData if the answers are of different tests, or if two files hold the same ones.
void require_one_test(std::span<const Answers> all);

}  // namespace hum::eval
