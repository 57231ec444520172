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
  double waver_db = 0.5;     // slow irregularity of the level
  double breath_db = -35;    // noise of the breath below the voice
  double attack_s = 0.04, release_s = 0.06;
  double vibrato_share = 0.4;  // of long notes
  double vibrato_hz = 5.5, vibrato_cents = 40, vibrato_db = 1;
  double legato = 0.4;  // share of joined notes without a consonant
  double scoop_share = 0.2, fall_share = 0.1, creak_share = 0.05;  // of notes
  double glide_s = 0.08;                                           // typical time of a glide
  double tuning_cents = 0;                                         // at the beginning
  double drift_cents = 10;        // how far the tuning wanders in a phrase
  double melisma_share = 0.1;     // of syllables long enough for several notes, which carry 2 to 5
  double creep_share = 0.1;       // of notes that begin off their pitch and settle slowly
  double held_scoop_share = 0.2;  // of scoops that stay low before they rise

  // For files that fix some properties: bench/hear/conditions.json.
  template <class V>
  void visit_fields(V& v) {
    v("kind", kind, "kind of voice");
    v("low", low, "lowest note, MIDI");
    v("high", high, "highest note, MIDI");
    v("formant_scale", formant_scale, "1: an adult man; above: a smaller head");
    v("tilt_db", tilt_db, "slope of the source in dB per octave");
    v("jitter", jitter, "standard deviation of the pitch from period to period");
    v("shimmer_db", shimmer_db, "of the level");
    v("flutter_cents", flutter_cents, "slow irregularity of the pitch");
    v("waver_db", waver_db, "slow irregularity of the level");
    v("breath_db", breath_db, "noise of the breath below the voice");
    v("attack_s", attack_s, "typical rise of a note");
    v("release_s", release_s, "typical fall of a note");
    v("vibrato_share", vibrato_share, "share of long notes with vibrato");
    v("vibrato_hz", vibrato_hz, "its rate");
    v("vibrato_cents", vibrato_cents, "its depth either way");
    v("vibrato_db", vibrato_db, "its depth in loudness");
    v("legato", legato, "share of joined notes without a consonant");
    v("scoop_share", scoop_share, "share of notes that begin too low");
    v("fall_share", fall_share, "share of notes that fall at their end");
    v("creak_share", creak_share, "share of notes that end in creak");
    v("glide_s", glide_s, "typical time of a glide");
    v("tuning_cents", tuning_cents, "tuning at the beginning");
    v("drift_cents", drift_cents, "how far the tuning wanders");
    v("melisma_share", melisma_share, "share of long syllables that carry several notes");
    v("creep_share", creep_share, "share of notes that settle slowly");
    v("held_scoop_share", held_scoop_share, "share of scoops that stay low before they rise");
  }
};

// Draws a singer. `kind` fixes the kind of voice.
Singer draw_singer(Rng& rng);
Singer draw_singer(Rng& rng, VoiceKind kind);

}  // namespace hum::data
