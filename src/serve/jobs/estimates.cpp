#include "serve/jobs/estimates.h"

#include <algorithm>

namespace hum::serve {
namespace {

// Shares of the job, or of what follows its separation, at which playing begins and ends: hearing
// and writing are short.
constexpr double kPlayFrom = 0.1, kPlayTo = 0.95;
// Share of the job at which separation ends, if a part is played afterwards, or only stems written.
constexpr double kSeparateTo = 0.5, kSeparateAllTo = 0.9;
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
  double* rate = stage == "separate"  ? &rates_.separate
                 : stage == "hear"    ? &rates_.hear
                 : stage == "play"    ? &rates_.play
                 : stage == "play_lm" ? &rates_.play_lm
                 : stage == "write"   ? &rates_.write
                                      : nullptr;
  if (rate != nullptr) *rate = (1 - kNewest) * *rate + kNewest * seconds / sound_s;
}

double Estimates::separate_to() const {
  if (sound_.separated_s == 0) return 0;
  return sound_.played_s > 0 ? kSeparateTo : kSeparateAllTo;
}

Estimates::Position Estimates::at(std::string_view stage, double done, double elapsed_s) const {
  const auto rates = rates_.now();
  const double hear_s = rates.hear * sound_.heard_s;
  const double play_s = (sound_.has_lm ? rates.play_lm : rates.play) * sound_.played_s;
  const double write_s = rates.write * std::max(sound_.played_s, sound_.separated_s);
  const double before = separate_to();
  if (stage == "separate") {
    const double separate_s = left_of(rates.separate * sound_.separated_s, done, elapsed_s);
    return {before * done, separate_s + hear_s + play_s + write_s};
  }
  const auto after_separation = [&](double share) { return before + (1 - before) * share; };
  if (stage == "hear") {
    return {after_separation(kPlayFrom * done),
            left_of(hear_s, done, elapsed_s) + play_s + write_s};
  }
  if (stage == "play") {
    return {after_separation(kPlayFrom + (kPlayTo - kPlayFrom) * done),
            left_of(play_s, done, elapsed_s) + write_s};
  }
  return {after_separation(kPlayTo + (1 - kPlayTo) * done), left_of(write_s, done, elapsed_s)};
}

void Estimates::learn(std::string_view stage, double seconds) {
  const double sound_s = stage == "separate" ? sound_.separated_s
                         : stage == "hear"   ? sound_.heard_s
                         : stage == "write"  ? std::max(sound_.played_s, sound_.separated_s)
                                             : sound_.played_s;
  rates_.learn(stage == "play" && sound_.has_lm ? "play_lm" : stage, seconds, sound_s);
}

}  // namespace hum::serve
