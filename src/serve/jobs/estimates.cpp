#include "serve/jobs/estimates.h"

#include <algorithm>

namespace hum::serve {
namespace {

// Shares of the whole job at which playing begins and ends: hearing and writing are short.
constexpr double kPlayFrom = 0.1, kPlayTo = 0.95;
constexpr double kNewest = 0.3;  // weight of the last job
// Before this share of a stage, its own speed says little.
constexpr double kEnough = 0.15;
constexpr double kShortest_s = 0.1;  // of sound

double left_of(double expected_s, double done, double elapsed_s) {
  if (done >= 1) return 0;
  if (done > kEnough) return elapsed_s * (1 - done) / done;
  return std::max(0.0, expected_s - elapsed_s);
}

}  // namespace

StageRates::Rates StageRates::now() const {
  const std::scoped_lock lock(mutex_);
  return rates_;
}

void StageRates::learn(std::string_view stage, double seconds, double sound_s) {
  if (sound_s < kShortest_s) return;
  const std::scoped_lock lock(mutex_);
  double* rate = stage == "hear"        ? &rates_.hear
                 : stage == "play"      ? &rates_.play
                 : stage == "play_fast" ? &rates_.play_fast
                 : stage == "write"     ? &rates_.write
                                        : nullptr;
  if (rate != nullptr) *rate = (1 - kNewest) * *rate + kNewest * seconds / sound_s;
}

void Estimates::begin(double heard_s, double played_s, bool is_fast) {
  is_fast_ = is_fast;
  heard_s_ = heard_s;
  played_s_ = played_s;
}

Estimates::Position Estimates::at(std::string_view stage, double done, double elapsed_s) const {
  const auto rates = rates_.now();
  const double play_s = (is_fast_ ? rates.play_fast : rates.play) * played_s_;
  const double write_s = rates.write * played_s_;
  if (stage == "hear") {
    const double hear_s = left_of(rates.hear * heard_s_, done, elapsed_s);
    return {kPlayFrom * done, hear_s + play_s + write_s};
  }
  if (stage == "play") {
    return {kPlayFrom + (kPlayTo - kPlayFrom) * done, left_of(play_s, done, elapsed_s) + write_s};
  }
  return {kPlayTo + (1 - kPlayTo) * done, left_of(write_s, done, elapsed_s)};
}

void Estimates::learn(std::string_view stage, double seconds) {
  rates_.learn(stage == "play" && is_fast_ ? "play_fast" : stage, seconds,
               stage == "hear" ? heard_s_ : played_s_);
}

}  // namespace hum::serve
