// The constant properties of a synthetic singer.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/enum_names.h"
#include "base/rng.h"

namespace hum::data {

enum class VoiceKind { kLowMale, kMale, kFemale, kChild, kFalsetto, kClosedMouth, kWhistle };
inline constexpr std::array kVoiceKinds = {
    VoiceKind::kLowMale,  VoiceKind::kMale,        VoiceKind::kFemale, VoiceKind::kChild,
    VoiceKind::kFalsetto, VoiceKind::kClosedMouth, VoiceKind::kWhistle};
inline EnumNames<VoiceKind> enum_names(VoiceKind) {
  static constexpr std::pair<VoiceKind, std::string_view> kNames[] = {
      {VoiceKind::kLowMale, "low_male"},  {VoiceKind::kMale, "male"},
      {VoiceKind::kFemale, "female"},     {VoiceKind::kChild, "child"},
      {VoiceKind::kFalsetto, "falsetto"}, {VoiceKind::kClosedMouth, "closed_mouth"},
      {VoiceKind::kWhistle, "whistle"}};
  return kNames;
}

struct Singer {
  VoiceKind kind = VoiceKind::kMale;
  int low = 45, high = 69;   // range, MIDI
  double formant_scale = 1;  // 1: an adult man; above: a smaller head
  double tilt_db = 9;        // of the source, per octave, when loud; softer notes are steeper
  double jitter = 0.005;     // standard deviation of the pitch from period to period, as a share
  double shimmer_db = 0.3;   // of the level
  double flutter_cents = 8;  // slow irregularity of the pitch
  double breath_db = -35;    // noise of the breath below the voice
  double attack_s = 0.04, release_s = 0.06;
  double vibrato_share = 0.4;  // of long notes
  double vibrato_hz = 5.5, vibrato_cents = 40, vibrato_db = 1;
  double legato = 0.4;  // share of joined notes without a consonant
  double scoop_share = 0.2, fall_share = 0.1, creak_share = 0.05;  // of notes
  double glide_s = 0.08;                                           // typical time of a glide
  double tuning_cents = 0;                                         // at the beginning
  double drift_cents = 10;     // how far the tuning wanders in a phrase
  double melisma_share = 0.1;  // of syllables long enough for several notes, which carry 2 to 5
  double creep_share = 0.1;    // of notes that begin off their pitch and settle slowly
};

// Draws a singer. `kind` fixes the kind of voice.
Singer draw_singer(Rng& rng);
Singer draw_singer(Rng& rng, VoiceKind kind);

}  // namespace hum::data
