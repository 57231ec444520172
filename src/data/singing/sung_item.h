// Clean recordings of synthetic singers with exact notes, from which the ear learns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "data/singing/singer.h"
#include "data/synthesis/sung_note.h"

namespace hum::data {

// Samples between two values of an item's pitch: 9.98 ms.
inline constexpr int kPitchHop = 220;

struct SungItemOptions {
  double seconds = 12;
  double silent_share = 0.1;  // of items without a voice: breaths, clicks, thumps, whispers
  std::optional<VoiceKind> kind = {};  // instead of a random one
  // Fixes properties of the singer, who is drawn before.
  std::function<void(Singer&)> adjust = {};
};

struct SungItem {
  std::optional<Singer> singer;  // absent: nobody sings
  std::vector<float> samples;    // mono, 22,050 Hz
  std::vector<SungNote> notes;   // as sung_note.h defines them
  std::vector<float> f0_hz;      // at (i + 1/2) kPitchHop; 0: no voice
};

// The same arguments give the same item on every machine.
SungItem make_sung_item(uint64_t seed, uint64_t index, const SungItemOptions& options = {});

}  // namespace hum::data
