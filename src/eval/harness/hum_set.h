// Hums whose notes are known, to judge the reading of hums by: made-up singers with exact onsets.
// A set is a function of its options. Not here: what instruments play (test_set.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "audio/notes.h"

namespace hum::eval {

enum class HumKind {
  kClean,    // one note after another, from staccato to slurred, in a quiet room
  kLegato,   // no gaps, one note in four repeats the pitch before it
  kOffTune,  // 40 cents sharp, or flat
  kPhone     // 300 to 3,400 Hz alone, noise 15 dB below the voice
};
inline constexpr HumKind kHumKinds[] = {HumKind::kClean, HumKind::kLegato, HumKind::kOffTune,
                                        HumKind::kPhone};
std::string_view hum_kind_name(HumKind kind);

inline constexpr double kOffTune_cents = 40;
inline constexpr double kPhoneLow_hz = 300, kPhoneHigh_hz = 3400, kPhoneSnr_db = 15;

struct HumSetOptions {
  int64_t seed = 20261124;  // that no training item, reference or test set has
  int64_t count = 50;
  double seconds = 6;
};

struct KnownHum {
  std::vector<audio::Note> notes;  // as sung: onsets to the sample; without the tuning offset
  std::vector<float> samples;      // mono at 22,050 Hz
};

// Hum `index` of a kind. Kinds share melodies and singers: of one index, they differ in what their
// names say alone. Melodies lie within a singer's range, without bends: glides, vibrato, drift and
// loudness are the singer's.
// Throws: kFailure below half a second.
KnownHum make_known_hum(HumKind kind, const HumSetOptions& options, uint64_t index);

// What is heard on a telephone: the band from low to high, and white noise in the same band,
// `snr_db` below the voice in it (data::active_rms). The same (seed, index), the same noise.
std::vector<float> through_phone(std::span<const float> samples, double snr_db, uint64_t seed,
                                 uint64_t index);

}  // namespace hum::eval
