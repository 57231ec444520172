#include "data/stems/sung_lead.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "audio/resample.h"
#include "data/singing/performance.h"
#include "data/singing/song.h"
#include "data/singing/voice.h"
#include "data/stems/roles.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/presets.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr std::array kLeadVoices = {VoiceKind::kLowMale, VoiceKind::kMale,  VoiceKind::kFemale,
                                    VoiceKind::kFemale,  VoiceKind::kChild, VoiceKind::kFalsetto};
constexpr double kTogether_s = 0.03;
constexpr double kShortest_s = 0.06;
constexpr double kEnd_s = 0.1;  // a voice ends before its sound does

std::vector<PlannedNote> planned(std::span<const audio::Note> line, double seconds,
                                 const Singer& singer, Rng& rng) {
  const double key = rng.uniform(-0.1, 0.1);
  std::vector<PlannedNote> notes;
  for (const audio::Note& note : line) {
    const double end_s = std::min(note.end_s, seconds - kEnd_s);
    if (end_s - note.start_s < kShortest_s) continue;
    int pitch = note.pitch;
    while (pitch > singer.high) pitch -= 12;
    while (pitch < singer.low) pitch += 12;
    const double level_db = (127 * note.amplitude - kVelocityMiddle) / kVelocityPerDb;
    notes.push_back({.start_s = note.start_s,
                     .end_s = end_s,
                     .pitch = pitch + key + 0.08 * rng.normal(),
                     .level_db = std::clamp(level_db, -10.0, 8.0)});
  }
  plan_joins(notes, singer, rng);
  return notes;
}

}  // namespace

std::vector<audio::Note> top_line(std::span<const audio::Note> notes) {
  std::vector<audio::Note> sorted(notes.begin(), notes.end());
  std::ranges::stable_sort(
      sorted, {}, [](const audio::Note& note) { return std::tuple(note.start_s, -note.pitch); });
  std::vector<audio::Note> line;
  for (audio::Note& note : sorted) {
    if (line.empty() || note.start_s - line.back().start_s >= kTogether_s) {
      if (!line.empty()) line.back().end_s = std::min(line.back().end_s, note.start_s);
      line.push_back(std::move(note));
    } else if (note.pitch > line.back().pitch) {  // starts together with a lower one
      const double start_s = line.back().start_s;
      line.back() = std::move(note);
      line.back().start_s = start_s;
    }
  }
  return line;
}

SungLead sing_lead(std::span<const audio::Note> notes, double seconds, uint64_t seed,
                   uint64_t index) {
  Rng rng(seed, "sung lead", index);
  auto line = top_line(notes);
  SungLead result;
  std::vector<float> voice;
  const auto in_range = [&](int low, int high) {
    const int octaves = octave_shift(line, low, high);
    for (audio::Note& note : line) audio::transpose(note, octaves);
  };
  if (rng.chance(1.0 / 7)) {
    result.voice = "hum";
    in_range(kHumLow, kHumHigh);
    voice = levelled(render_hum(line, seconds, seed, index));
  } else {
    const auto kind = kLeadVoices[static_cast<size_t>(
        rng.integer(0, static_cast<int64_t>(kLeadVoices.size()) - 1))];
    const Singer singer = draw_singer(rng, kind);
    result.voice = to_name(kind);
    in_range(singer.low, singer.high);
    const auto song = planned(line, seconds, singer, rng);
    const int64_t samples = sample_of(seconds);
    if (song.empty()) {
      voice.resize(static_cast<size_t>(samples));
    } else {
      voice = render_voice(perform(song, singer, seconds, rng), singer, samples, seed, index);
    }
  }
  voice = audio::resample(voice, kSampleRate, kStemRate);
  result.sound = audio::from_mono(voice, kStemRate, 2);
  return result;
}

}  // namespace hum::data
