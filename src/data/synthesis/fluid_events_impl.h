// Plans the events for FluidSynth: distributes notes over channels and turns bends into pitch-wheel
// moves. Does not call FluidSynth.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/fluid.h"

namespace hum::data::internal {

inline constexpr int kFluidRate = 44100;
inline constexpr int kFluidBlock =
    64;  // FluidSynth acts on events between blocks of this many samples
inline constexpr int kBendRange = 12;  // semitones each way
inline constexpr int kWheelCentre = 8192;

// In the order in which events of one block are sent.
enum class FluidAction { kNoteOff, kExpression, kWheel, kNoteOn };

struct FluidEvent {
  int64_t block;
  FluidAction action;
  int channel;  // kExpression: unused, all channels
  int key;      // note events
  int value;    // velocity 1..127, wheel 0..16383, expression 0..127
};

// Returns events sorted by (block, action). Uses channels 0..15 except 9 (drums); a note takes the
// channel that has been free longest, so that its wheel does not bend the release of another.
std::vector<FluidEvent> fluid_events(std::span<const audio::Note> notes,
                                     std::span<const ExpressionPoint> expression);

}  // namespace hum::data::internal
