// Synthetic hums with known notes and exact onsets, to evaluate the transcription of hums. A set is
// a function of its options. For clips of instruments see test_set.h.
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
  kPhone     // only 300 to 3,400 Hz, with noise 15 dB below the voice
};
inline constexpr HumKind kHumKinds[] = {HumKind::kClean, HumKind::kLegato, HumKind::kOffTune,
                                        HumKind::kPhone};
std::string_view hum_kind_name(HumKind kind);

inline constexpr double kOffTune_cents = 40;
inline constexpr double kPhoneLow_hz = 300, kPhoneHigh_hz = 3400, kPhoneSnr_db = 15;

struct HumSetOptions {
  int64_t seed = 20261124;  // not used by training items, references or test sets
  int64_t count = 50;
  double seconds = 6;
};

struct KnownHum {
  std::vector<audio::Note> notes;  // as sung_note.h defines them; without the tuning offset
  std::vector<float> samples;      // mono at 22,050 Hz
};

// Makes hum `index` of a kind. Kinds share melodies and singers: hums of the same index differ only
// in the property that names their kind. Melodies lie within a singer's range and have no bends;
// glides, vibrato, drift and loudness come from the singer.
// Throws: kFailure below half a second.
KnownHum make_known_hum(HumKind kind, const HumSetOptions& options, uint64_t index);

// Simulates a telephone: the band from low to high, with white noise in the same band, `snr_db`
// below the voice in it (data::active_rms). The noise is a function of (seed, index).
std::vector<float> through_phone(std::span<const float> samples, double snr_db, uint64_t seed,
                                 uint64_t index);

}  // namespace hum::eval
