#include "data/singing/sung_item.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/singing/performance.h"
#include "data/singing/song.h"
#include "data/singing/voice.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/knock.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

// Below this share of the loudest level there is no voice.
constexpr double kSilent = 0.02;

std::vector<float> pitch_track(const Performance& performance, int64_t samples) {
  const float loudest = *std::ranges::max_element(performance.level);
  std::vector<float> track;
  for (int64_t at = kPitchHop / 2; at < samples; at += kPitchHop) {
    const auto point = static_cast<size_t>(at / kControlSamples);
    const bool sounds = performance.level[point] > kSilent * loudest;
    track.push_back(sounds ? performance.hz[point] : 0);
  }
  return track;
}

// Adds `length_s` of noise around `hz` at `at_s`, which swells and fades.
void add_puff(std::span<const float> noise, double at_s, double length_s, double hz, double level,
              std::span<float> out) {
  const double radius = std::exp(-std::numbers::pi * 0.5 * hz / kSampleRate);
  const double b = 2 * radius * std::cos(2 * std::numbers::pi * hz / kSampleRate);
  double y1 = 0, y2 = 0;
  const int64_t first = sample_of(at_s), length = sample_of(length_s);
  for (int64_t i = 0; i < length && first + i < std::ssize(out); ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(length);
    const double y = noise[static_cast<size_t>(first + i)] + b * y1 - radius * radius * y2;
    y2 = y1;
    y1 = y;
    out[static_cast<size_t>(first + i)] +=
        static_cast<float>(level * (1 - radius) * std::sin(std::numbers::pi * x) * y);
  }
}

std::vector<float> sounds_without_a_voice(const SungItemOptions& options, uint64_t seed,
                                          uint64_t index, Rng& rng) {
  std::vector<float> out(static_cast<size_t>(sample_of(options.seconds)));
  std::vector<float> noise(out.size());
  render_noise(seed, index, noise);
  const int64_t events = rng.integer(0, 12);
  for (int64_t i = 0; i < events; ++i) {
    const double at_s = rng.uniform(0, options.seconds);
    const double kind = rng.uniform();
    if (kind < 0.4) {  // a breath
      add_puff(noise, at_s, rng.uniform(0.2, 0.8), rng.uniform(700, 2500), rng.uniform(0.02, 0.2),
               out);
    } else if (kind < 0.7) {  // a whispered consonant
      add_puff(noise, at_s, rng.uniform(0.02, 0.2), rng.uniform(2000, 8000), rng.uniform(0.05, 0.5),
               out);
    } else if (kind < 0.85) {
      add_knock(at_s, rng.uniform(30, 120), rng.uniform(0.05, 0.8), out);
    } else {  // a click
      add_knock(at_s, rng.uniform(800, 4000), rng.uniform(0.05, 0.8), out);
    }
  }
  return out;
}

}  // namespace

SungItem make_sung_item(uint64_t seed, uint64_t index, const SungItemOptions& options) {
  Rng rng(seed, "sung item", index);
  SungItem item;
  const int64_t samples = sample_of(options.seconds);
  const auto song_of = [&] {
    item.singer = options.kind ? draw_singer(rng, *options.kind) : draw_singer(rng);
    if (options.adjust) options.adjust(*item.singer);
    return plan_song(*item.singer, options.seconds - 0.3, seed, index);
  };
  const bool sings = !rng.chance(options.silent_share);
  const auto song = sings ? song_of() : std::vector<PlannedNote>();
  if (song.empty()) {
    item.singer.reset();
    item.samples = sounds_without_a_voice(options, seed, index, rng);
    item.f0_hz.assign(static_cast<size_t>((samples + kPitchHop / 2 - 1) / kPitchHop), 0);
    return item;
  }
  const Performance performance = perform(song, *item.singer, options.seconds, rng);
  item.samples = render_voice(performance, *item.singer, samples, seed, index);
  item.notes = performance.notes;
  item.f0_hz = pitch_track(performance, samples);
  return item;
}

}  // namespace hum::data
