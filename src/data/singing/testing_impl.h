// For tests: a singer without irregularities, who performs short songs.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "data/singing/performance.h"

namespace hum::data::testing {

inline Singer steady(VoiceKind kind = VoiceKind::kMale) {
  return {.kind = kind,
          .jitter = 0,
          .shimmer_db = 0,
          .flutter_cents = 0,
          .waver_db = 0,
          .breath_db = -80,
          .attack_s = 0.02,
          .release_s = 0.03,
          .vibrato_share = 0,
          .scoop_share = 0,
          .fall_share = 0,
          .creak_share = 0,
          .tuning_cents = 0,
          .drift_cents = 0,
          .melisma_share = 0,
          .creep_share = 0,
          .held_scoop_share = 0};
}

inline Performance performed(const std::vector<PlannedNote>& song, const Singer& singer,
                             double seconds = 3, uint64_t seed = 1) {
  Rng rng(seed, "test");
  return perform(song, singer, seconds, rng);
}

inline double semitones(double hz) { return audio::hz_to_midi(hz); }

}  // namespace hum::data::testing
