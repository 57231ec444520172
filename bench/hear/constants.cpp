// hear-constants: the constants of the ear's decoder are chosen on the second voice, which no
// training hears. This searches them again, one constant after another, on weights and hums that
// stay the same. It also fits how the confidence must be stretched to be a probability.
#include <array>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/hear/hum_sets.h"
#include "bench/hear/scores.h"
#include "data/synthesis/level.h"
#include "eval/harness/bar.h"

namespace hum::bench {
namespace {

using models::ear::DecoderOptions;

constexpr int64_t kHums = 20;       // of each condition
constexpr uint64_t kOtherHums = 1;  // added to the seed: the other bars judge on hums of their own
constexpr int kPasses = 2;          // over all constants
constexpr double kMaxGain = 0.005;

struct Constant {
  const char* name;
  double DecoderOptions::*field;
  std::vector<double> values;  // to try
};
const std::array<Constant, 5> kConstants = {{
    {"note_cost", &DecoderOptions::note_cost, {1, 1.5, 2, 2.5, 3, 4, 5, 6}},
    {"pitch_weight", &DecoderOptions::pitch_weight, {0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
    {"onset_bias", &DecoderOptions::onset_bias, {-2, -1.5, -1, -0.5, 0, 0.5, 1}},
    {"shortest_s", &DecoderOptions::shortest_s, {0.03, 0.04, 0.05, 0.06, 0.08, 0.1}},
    {"least_confidence", &DecoderOptions::least_confidence, {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}},
}};

struct HeardHum {
  models::ear::Frames frames;
  std::vector<eval::PitchedNote> notes;
};

std::vector<HeardHum> second_voice(hear::ConditionSet set, const models::ear::EarSession& ear) {
  set.hums = std::min(set.hums, kHums);
  set.seed += kOtherHums;
  std::vector<HeardHum> heard;
  for (const hear::Condition& condition : set.conditions) {
    spdlog::info("hear-constants: {}", condition.name);
    for (auto& hum : hear::make_hums(hear::kSecondVoice, condition, set)) {
      heard.push_back({ear.listen(data::levelled(std::move(hum.sound))), std::move(hum.notes)});
    }
  }
  return heard;
}

std::vector<hear::Notes> decoded(const std::vector<HeardHum>& hums, const DecoderOptions& options) {
  std::vector<hear::Notes> notes(hums.size());
  parallel_for(std::ssize(hums), compute_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    notes[at] = hear::decoded(hums[at].frames, options);
  });
  return notes;
}

double f1_of(const std::vector<HeardHum>& hums, const DecoderOptions& options) {
  const auto notes = decoded(hums, options);
  hear::Tally tally;
  for (size_t i = 0; i < hums.size(); ++i) tally.add(hums[i].notes, notes[i]);
  return tally.f1();
}

// Coordinate ascent. Returns the best F1; `options` becomes what reaches it.
double search(const std::vector<HeardHum>& hums, double f1, DecoderOptions& options) {
  eval::TextTable table({"constant", "value", "F1"});
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const Constant& constant : kConstants) {
      const DecoderOptions before = options;
      for (const double value : constant.values) {
        DecoderOptions tried = before;
        tried.*constant.field = value;
        const double reached = f1_of(hums, tried);
        table.row({constant.name, fmt::format("{}", value), fmt::format("{:.4f}", reached)});
        if (reached <= f1) continue;
        f1 = reached;
        options = tried;
      }
    }
  }
  std::cerr << table.text();
  return f1;
}

// Logistic regression of "the note is right" on the log-odds of its confidence, by Newton's
// method: {offset, slope}, which are 0 and 1 when the confidence is a probability.
std::array<double, 2> calibration(const std::vector<HeardHum>& hums,
                                  const DecoderOptions& options) {
  struct Sample {
    double log_odds, right;
  };
  std::vector<Sample> samples;
  const auto notes = decoded(hums, options);
  for (size_t i = 0; i < hums.size(); ++i) {
    const auto right = hear::right_notes(hums[i].notes, notes[i]);
    for (size_t j = 0; j < right.size(); ++j) {
      const double p = std::clamp(notes[i][j].confidence, 1e-4, 1 - 1e-4);
      samples.push_back({std::log(p / (1 - p)), right[j] ? 1.0 : 0.0});
    }
  }
  double offset = 0, slope = 1;
  for (int step = 0; step < 20; ++step) {
    double g0 = 0, g1 = 0, h00 = 1e-9, h01 = 0, h11 = 1e-9;
    for (const Sample& sample : samples) {
      const double p = 1 / (1 + std::exp(-(offset + slope * sample.log_odds)));
      const double off = sample.right - p, weight = p * (1 - p);
      g0 += off;
      g1 += off * sample.log_odds;
      h00 += weight;
      h01 += weight * sample.log_odds;
      h11 += weight * sample.log_odds * sample.log_odds;
    }
    const double determinant = h00 * h11 - h01 * h01;
    offset += (h11 * g0 - h01 * g1) / determinant;
    slope += (h00 * g1 - h01 * g0) / determinant;
  }
  return {offset, slope};
}

}  // namespace

eval::Bar hear_constants(const Scale& scale) {
  eval::Bar bar{.name = "hear-constants",
                .unit = "note F1 that other constants would gain, second voice",
                .bar = fmt::format("{} hums a condition: no other value of a constant of the ear's "
                                   "decoder, tried in turn, gains more than {}",
                                   kHums, kMaxGain)};
  bar.reason = hear::second_voice_missing();
  if (!bar.reason.empty()) return bar;
  const hear::Ears ears(scale);
  const auto hums = second_voice(hear::read_conditions(scale), ears.ear());
  DecoderOptions options;
  const double now = f1_of(hums, options), best = search(hums, now, options);
  bar.value = best - now;
  bar.checks.at_most("gain", best - now, kMaxGain);
  bar.ours["F1"] = now;
  bar.ours["best F1"] = best;
  for (const Constant& constant : kConstants) {
    bar.ours["best constants"][constant.name] = options.*constant.field;
  }
  const auto [offset, slope] = calibration(hums, options);
  bar.ours["confidence at the best"] = {{"offset", offset}, {"slope", slope}};
  return bar;
}

}  // namespace hum::bench
