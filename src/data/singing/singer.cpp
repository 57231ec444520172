#include "data/singing/singer.h"

#include <cmath>

#include "base/error.h"

namespace hum::data {
namespace {

struct Range {
  VoiceKind kind;
  double share;
  int lowest, highest;  // MIDI; a singer uses 14 to 26 semitones of it
  double scale_low, scale_high;
  double tilt_low, tilt_high;
};
constexpr Range kRanges[] = {{VoiceKind::kLowMale, 0.14, 38, 60, 0.88, 0.98, 5, 12},
                             {VoiceKind::kMale, 0.24, 43, 68, 0.95, 1.06, 5, 13},
                             {VoiceKind::kFemale, 0.24, 53, 81, 1.1, 1.22, 6, 14},
                             {VoiceKind::kChild, 0.08, 57, 86, 1.25, 1.5, 7, 15},
                             {VoiceKind::kFalsetto, 0.08, 57, 79, 0.98, 1.1, 12, 20},
                             {VoiceKind::kClosedMouth, 0.14, 40, 76, 0.9, 1.25, 8, 18},
                             {VoiceKind::kWhistle, 0.08, 76, 107, 1, 1, 0, 0}};

const Range& range_of(VoiceKind kind) {
  for (const Range& range : kRanges) {
    if (range.kind == kind) return range;
  }
  HUM_CHECK(false, "voice kind {}", static_cast<int>(kind));
  return kRanges[0];
}

// Log-uniform.
double between(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.uniform());
}

}  // namespace

Singer draw_singer(Rng& rng) {
  double place = rng.uniform();
  for (const Range& range : kRanges) {
    place -= range.share;
    if (place < 0) return draw_singer(rng, range.kind);
  }
  return draw_singer(rng, VoiceKind::kMale);
}

Singer draw_singer(Rng& rng, VoiceKind kind) {
  const Range& range = range_of(kind);
  const auto span = static_cast<int>(rng.integer(14, 26));
  Singer singer{.kind = kind};
  singer.low =
      static_cast<int>(rng.integer(range.lowest, std::max(range.lowest, range.highest - span)));
  singer.high = std::min(range.highest, singer.low + span);
  singer.formant_scale = rng.uniform(range.scale_low, range.scale_high);
  singer.tilt_db = rng.uniform(range.tilt_low, range.tilt_high);
  singer.jitter = between(rng, 0.001, 0.012);
  singer.shimmer_db = between(rng, 0.05, 0.8);
  singer.flutter_cents = between(rng, 2, 40);
  singer.waver_db = between(rng, 0.1, 1.7);
  singer.breath_db = rng.uniform(-48, kind == VoiceKind::kFalsetto ? -16 : -22);
  singer.attack_s = between(rng, 0.01, 0.12);
  singer.release_s = between(rng, 0.02, 0.2);
  singer.vibrato_share = rng.chance(0.5) ? rng.uniform(0.2, 1) : 0;
  singer.vibrato_hz = rng.uniform(4, 8);
  singer.vibrato_cents = between(rng, 10, 150);
  singer.vibrato_db = rng.uniform(0, 4);
  singer.legato = rng.uniform(0, 1);
  singer.scoop_share = rng.uniform(0, 0.5);
  singer.fall_share = rng.uniform(0, 0.3);
  singer.creak_share = kind == VoiceKind::kWhistle ? 0 : rng.uniform(0, 0.15);
  singer.glide_s = between(rng, 0.02, 0.16);
  singer.tuning_cents = rng.uniform(-50, 50);
  singer.drift_cents = rng.chance(0.3) ? rng.uniform(10, 60) : rng.uniform(0, 10);
  singer.melisma_share = rng.chance(0.4) ? rng.uniform(0.05, 0.5) : 0;
  singer.creep_share = rng.chance(0.5) ? rng.uniform(0.05, 0.6) : 0;
  singer.held_scoop_share = rng.chance(0.6) ? rng.uniform(0.1, 0.6) : 0;
  return singer;
}

}  // namespace hum::data
