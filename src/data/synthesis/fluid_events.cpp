#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "data/synthesis/fluid_events_impl.h"
#include "data/synthesis/pitch_curve.h"

namespace hum::data::internal {
namespace {

constexpr std::array<int, 15> kChannels = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15};
// The shortest time between two moves of the wheel: 2.9 ms.
constexpr int kWheelBlocks = 2;

int64_t block_of(double time_s) {
  return std::llround(std::max(0.0, time_s) * kFluidRate / kFluidBlock);
}

double time_of(int64_t block) { return static_cast<double>(block * kFluidBlock) / kFluidRate; }

int wheel_value(double semitones) {
  const auto moved = static_cast<int>(std::lround(semitones / kBendRange * kWheelCentre));
  return std::clamp(kWheelCentre + moved, 0, 2 * kWheelCentre - 1);
}

void add_note(const audio::Note& note, int channel, std::vector<FluidEvent>& events) {
  const int64_t on = block_of(note.start_s);
  const int64_t off = std::max(on + 1, block_of(note.end_s));
  const int velocity = std::clamp(static_cast<int>(std::lround(note.amplitude * 127)), 1, 127);
  const PitchCurve curve(note);
  int wheel = -1;
  for (int64_t block = on; block < off; block += kWheelBlocks) {
    const int value = wheel_value(curve.at(time_of(block)) - note.pitch);
    if (value != wheel) events.push_back({block, FluidAction::kWheel, channel, 0, value});
    wheel = value;
    if (!curve.bends()) break;
  }
  events.push_back({on, FluidAction::kNoteOn, channel, note.pitch, velocity});
  events.push_back({off, FluidAction::kNoteOff, channel, note.pitch, 0});
}

}  // namespace

std::vector<FluidEvent> fluid_events(std::span<const audio::Note> notes,
                                     std::span<const ExpressionPoint> expression) {
  std::vector<audio::Note> in_order(notes.begin(), notes.end());
  std::ranges::stable_sort(in_order, {}, [](const audio::Note& note) {
    return std::make_tuple(note.start_s, note.pitch);
  });
  std::vector<FluidEvent> events;
  std::array<double, kChannels.size()> free_from{};
  free_from.fill(-1);
  for (const auto& note : in_order) {
    const auto freest = std::ranges::min_element(free_from) - free_from.begin();
    free_from[freest] = std::max(note.end_s, note.start_s);
    add_note(note, kChannels[freest], events);
  }
  for (const auto& point : expression) {
    const auto value = static_cast<int>(std::lround(std::clamp(point.value, 0.0, 1.0) * 127));
    events.push_back({block_of(point.time_s), FluidAction::kExpression, 0, 0, value});
  }
  std::ranges::stable_sort(events, {}, [](const FluidEvent& event) {
    return std::make_tuple(event.block, event.action);
  });
  return events;
}

}  // namespace hum::data::internal
