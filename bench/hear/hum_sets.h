// Hums with known notes by two voices that share no code: what data/singing sings, as the training
// items, and a second voice that no training hears.
#pragma once

#include <string>
#include <vector>

#include "bench/hear/conditions.h"
#include "bench/hear/ears.h"

namespace hum::bench::hear {

inline constexpr const char *kFirstVoice = "first voice", *kSecondVoice = "second voice";

// Why the second voice cannot sing here; empty if it can. It needs tools/second_voice.py, the
// Python of build/peers-notes and flite.
std::string second_voice_missing();

struct KnownSound {
  Sound sound;
  std::vector<eval::PitchedNote> notes;
  Sound babble = {};  // of other voices, if they came with it
};

// The hums of a condition: sung clean, then put into its room and noises. The first voice's babble
// is the sum of three others of these hums. A hum is a function of the set's seed, the voice, the
// condition, its index, and the number of hums if there is babble.
std::vector<KnownSound> make_hums(const std::string& voice, const Condition& condition,
                                  const ConditionSet& set);

// Only their sounds.
std::vector<Sound> sounds_of(const std::vector<KnownSound>& hums);

}  // namespace hum::bench::hear
