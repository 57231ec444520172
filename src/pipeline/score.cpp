#include "pipeline/score.h"

#include <charconv>
#include <cmath>

#include "pipeline/quantise.h"

namespace hum::pipeline {
namespace {

constexpr double kMinTempoConfidence = 0.15, kMinKeyMargin = 0.05;

// A number that is the whole text.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> asked_bpm(const ScoreOptions& options) {
  if (options.tempo == "auto" || options.tempo == "off") return std::nullopt;
  const auto bpm = number_of(options.tempo);
  if (!bpm || *bpm < kMinTempo_bpm || *bpm > kMaxTempo_bpm) {
    fail(ExitCode::kUsage,
         fmt::format("--tempo '{}' is neither auto, off nor {}..{}", options.tempo, kMinTempo_bpm,
                     kMaxTempo_bpm),
         "--tempo 120 stretches the melody to 120 beats per minute");
  }
  return bpm;
}

double snap_strength(const ScoreOptions& options) {
  if (options.snap == "off") return 0;
  const auto strength = number_of(options.snap);
  if (!strength || *strength < 0 || *strength > 1) {
    fail(ExitCode::kUsage, fmt::format("--snap '{}' is neither off nor 0..1", options.snap),
         "--snap 0.7 moves notes most of the way to the grid");
  }
  return *strength;
}

double correction(const ScoreOptions& options, const Setting& setting) {
  if (options.correct == "auto") return setting.can_bend ? 0 : 1;
  const auto strength = number_of(options.correct);
  if (!strength || *strength < 0 || *strength > 1) {
    fail(ExitCode::kUsage, fmt::format("--correct '{}' is neither auto nor 0..1", options.correct),
         "0 keeps every bend, 1 plays exact pitches");
  }
  return *strength;
}

// A beat is a quarter.
double beats_of(Grid grid) {
  switch (grid) {
    case Grid::k4:
      return 1;
    case Grid::k8:
      return 0.5;
    case Grid::k8t:
      return 1.0 / 3;
    case Grid::k16:
      return 0.25;
    case Grid::k16t:
      return 1.0 / 6;
    case Grid::k32:
      return 0.125;
  }
  HUM_CHECK(false, "grid {}", static_cast<int>(grid));
  return 0;
}

bool is_triplet(Grid grid) { return grid == Grid::k8t || grid == Grid::k16t; }

void find_tempo(Score& score, const ScoreOptions& options, bool stays_in_time) {
  if (options.tempo == "off") return;
  const auto asked = asked_bpm(options);
  auto heard = estimate_tempo(score.notes);
  if (heard && heard->confidence < kMinTempoConfidence) heard.reset();
  if (!asked) {
    score.tempo = heard;
    return;
  }
  if (!heard) {
    score.warnings.push_back(
        fmt::format("no steady tempo was found: the melody is not stretched, and {} is written",
                    options.tempo));
  } else if (!stays_in_time) {
    const Tempo pulse = nearest_pulse(score.notes, *heard, *asked);
    score.stretch = pulse.bpm / *asked;
    score.notes = at_tempo(score.notes, pulse, *asked);
  }
  score.tempo = Tempo{*asked, find_first_beat(score.notes, *asked), heard ? heard->confidence : 0};
}

void find_key(Score& score, const ScoreOptions& options) {
  score.heard_key = estimate_key(score.notes);
  if (options.key == "off") return;
  if (options.key == "auto" && !score.heard_key) {
    score.warnings.push_back("the melody has too few notes to find its key; none was moved");
    return;
  }
  score.key = options.key == "auto" ? score.heard_key->key : parse_key(options.key);
  score.moved_to_key = snap_to_key(score.notes, *score.key);
}

}  // namespace

std::optional<audio::KeySignature> Score::signature() const {
  if (key) return key_signature(*key);
  if (!heard_key || heard_key->margin < kMinKeyMargin) return std::nullopt;
  return key_signature(heard_key->key);
}

void validate(const ScoreOptions& options) {
  asked_bpm(options);
  const double snap = snap_strength(options);
  if (snap > 0 && options.tempo == "off") {
    fail(ExitCode::kUsage, "--snap needs a tempo, but --tempo is off", "--tempo auto");
  }
  if (!(options.swing_percent >= 50 && options.swing_percent <= 75)) {
    fail(ExitCode::kUsage, fmt::format("--swing {} is outside 50..75", options.swing_percent),
         "50 is straight, 67 swings in triplets");
  }
  if (options.swing_percent != 50 && (snap == 0 || is_triplet(options.grid))) {
    fail(ExitCode::kUsage, "--swing needs --snap and a straight grid",
         "add --snap 1 and --grid 1/16");
  }
  correction(options, {});
  if (options.key != "off" && options.key != "auto") parse_key(options.key);
}

void require_snap_for_grid(const ScoreOptions& options) {
  if (options.grid == ScoreOptions().grid || snap_strength(options) > 0) return;
  fail(ExitCode::kUsage, "--grid needs --snap", "add --snap 1");
}

Score make_score(std::vector<audio::Note> notes, const ScoreOptions& options,
                 const Setting& setting) {
  validate(options);
  Score score{.notes = std::move(notes)};
  find_tempo(score, options, setting.stays_in_time);
  find_key(score, options);
  score.correction = correction(options, setting);
  correct_pitch(score.notes, score.correction);
  const double snap = snap_strength(options);
  if (snap == 0) return score;
  if (!score.tempo) {
    fail(ExitCode::kBadData,
         "no steady tempo was found, and both arranging and snapping to a grid need one",
         "give it, such as --tempo 100, or hum to a click");
  }
  score.notes = quantise(score.notes, *score.tempo,
                         {.grid_beats = beats_of(options.grid),
                          .strength = snap,
                          .swing = options.swing_percent / 100});
  return score;
}

}  // namespace hum::pipeline
