#include "models/humming/residual.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/humming/config.h"
#include "models/humming/melody_columns.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kAttackFrames = 5, kBodyFrames = 20, kReleaseFrames = 10;

// Inverts the features' scale of counts.
int64_t count_of(float feature) {
  return std::llround(std::expm1(feature * std::log1p(static_cast<double>(kMelodyCountFrames))));
}

bool is_phase(float value, int last) {
  return value >= 0 && value <= static_cast<float>(last) && value == std::floor(value);
}

// A sum of weighted vectors.
struct Sum {
  double weight = 0;
  std::vector<double> values;

  explicit Sum(size_t size) : values(size) {}
  void add(double w, const std::vector<double>& x) {
    weight += w;
    for (size_t d = 0; d < x.size(); ++d) values[d] += w * x[d];
  }
  // The mean, as if `weight_of_zeros` more weight had zeros.
  std::vector<double> mean(double weight_of_zeros) const {
    std::vector<double> result = values;
    const double all = weight + weight_of_zeros;
    for (double& x : result) x = all > 0 ? x / all : 0;
    return result;
  }
};

}  // namespace

Residual::Residual(std::span<const float> truth, std::span<const float> draft,
                   std::span<const float> melody, std::span<const uint8_t> is_used,
                   const ResidualRule& rule)
    : rule_(rule), latent_(is_used.empty() ? 0 : truth.size() / is_used.size()) {
  HUM_REQUIRE(latent_ > 0 && truth.size() == latent_ * is_used.size() &&
                  draft.size() == truth.size() && melody.size() % is_used.size() == 0 &&
                  std::ssize(melody) / std::ssize(is_used) > kMelodySinceEnd,
              "residual: {} and {} latents and {} features of {} frames", truth.size(),
              draft.size(), melody.size(), is_used.size());
  std::vector<float> error(truth.begin(), truth.end());
  for (size_t i = 0; i < error.size(); ++i) error[i] -= draft[i];
  collect(error, melody, is_used);
  round_to_floats();
}

std::vector<float> Residual::table() const {
  std::vector<float> rows;
  for (const Stretch& stretch : stretches_) {
    rows.push_back(static_cast<float>(stretch.phase));
    rows.push_back(static_cast<float>(stretch.pitch));
    rows.push_back(static_cast<float>(stretch.frames));
    for (const double mean : stretch.residual) rows.push_back(static_cast<float>(mean));
  }
  return rows;
}

std::optional<Residual> Residual::of_table(std::span<const float> rows, size_t latent,
                                           const ResidualRule& rule) {
  const size_t width = kTableColumns + latent;
  const bool all_finite = std::ranges::all_of(rows, [](float x) { return std::isfinite(x); });
  if (latent == 0 || rows.size() % width != 0 || !all_finite) return std::nullopt;
  Residual result(latent, rule);
  for (; !rows.empty(); rows = rows.subspan(width)) {
    if (!is_phase(rows[0], static_cast<int>(Phase::kSilence)) || rows[2] < 0) return std::nullopt;
    const auto means = rows.subspan(kTableColumns, latent);
    result.stretches_.push_back(
        {static_cast<Phase>(rows[0]), rows[1], rows[2], {means.begin(), means.end()}});
  }
  return result;
}

Residual::Phase Residual::phase_of(std::span<const float> row) {
  if (!is_sounding(row)) {
    return count_of(row[kMelodySinceEnd]) <= kReleaseFrames ? Phase::kRelease : Phase::kSilence;
  }
  const int64_t age = count_of(row[kMelodySinceOnset]);
  if (age < kAttackFrames) return Phase::kAttack;
  return age < kBodyFrames ? Phase::kBody : Phase::kLate;
}

void Residual::collect(std::span<const float> error, std::span<const float> melody,
                       std::span<const uint8_t> is_used) {
  const size_t features = melody.size() / is_used.size();
  bool continues = false;
  for (size_t t = 0; t < is_used.size(); ++t) {
    const auto row = melody.subspan(t * features, features);
    const Phase phase = phase_of(row);
    continues = continues && row[kMelodyOnset] < 0.5F && stretches_.back().phase == phase;
    if (is_used[t] == 0) {
      continues = false;
      continue;
    }
    if (!continues) stretches_.push_back({phase, 0, 0, std::vector<double>(latent_)});
    continues = true;
    Stretch& stretch = stretches_.back();
    ++stretch.frames;
    stretch.pitch += (midi_pitch(row) - stretch.pitch) / stretch.frames;
    for (size_t d = 0; d < latent_; ++d) {
      double& mean = stretch.residual[d];
      mean += (error[t * latent_ + d] - mean) / stretch.frames;
    }
  }
}

void Residual::round_to_floats() {
  for (Stretch& stretch : stretches_) {
    stretch.pitch = static_cast<float>(stretch.pitch);
    for (double& mean : stretch.residual) mean = static_cast<float>(mean);
  }
}

bool Residual::shares(Phase a, Phase b) const {
  const auto sounds = [](Phase phase) { return phase < Phase::kRelease; };
  return rule_.by_phase ? a == b : sounds(a) == sounds(b);
}

std::vector<double> Residual::correction(Phase phase, double pitch) const {
  const auto distance = [&](const Stretch& stretch) { return std::abs(stretch.pitch - pitch); };
  double nearest = std::numeric_limits<double>::infinity();
  for (const Stretch& stretch : stretches_) {
    if (shares(phase, stretch.phase)) nearest = std::min(nearest, distance(stretch));
  }
  const double full = rule_.from_nearest ? nearest : 0;
  const bool moves = rule_.moved != nullptr && phase != Phase::kSilence;
  Sum sum(latent_);
  for (const Stretch& stretch : stretches_) {
    if (!shares(phase, stretch.phase)) continue;
    const double beyond = distance(stretch) - full;
    sum.add(stretch.frames * std::exp(-beyond / rule_.pitch_scale_semitones),
            moves ? rule_.moved(stretch.residual, pitch - stretch.pitch) : stretch.residual);
  }
  return sum.mean(rule_.shrink_frames);
}

void Residual::add(std::span<float> latents, std::span<const float> melody, double share) const {
  const size_t frames = latents.size() / latent_;
  HUM_REQUIRE(frames > 0 && latents.size() == frames * latent_ && melody.size() % frames == 0,
              "residual: {} latents and {} features", latents.size(), melody.size());
  const size_t features = melody.size() / frames;
  // The frames of a note share their correction.
  auto phase = Phase::kSilence;
  double pitch = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
  for (size_t t = 0; t < frames; ++t) {
    const auto row = melody.subspan(t * features, features);
    if (!is_sounding(row) && !rule_.corrects_rests) continue;
    if (phase_of(row) != phase || midi_pitch(row) != pitch) {
      phase = phase_of(row);
      pitch = midi_pitch(row);
      values = correction(phase, pitch);
    }
    for (size_t d = 0; d < latent_; ++d) {
      latents[t * latent_ + d] += static_cast<float>(share * values[d]);
    }
  }
}

}  // namespace hum::models::humming
