// Test helper: the sources and estimates of tools/golden/separation.py, bit by bit.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "base/json.h"
#include "base/testing/rule.h"

namespace hum::eval::testing {

struct Separation {
  std::vector<audio::AudioBuffer> references, estimates;
};

// The sample `delay` before sample i.
inline double late(const std::vector<double>& samples, size_t i, size_t delay) {
  return i >= delay ? samples[i - delay] : 0;
}

inline std::vector<double> ruled_numbers(const std::string& name, size_t count) {
  const auto numbers = hum::testing::ruled(name, count);
  return {numbers.begin(), numbers.end()};
}

inline std::vector<double> channel_of(const audio::AudioBuffer& sound, size_t channel) {
  std::vector<double> samples;
  for (size_t i = channel; i < sound.samples.size(); i += static_cast<size_t>(sound.channels)) {
    samples.push_back(sound.samples[i]);
  }
  return samples;
}

// Rows of `gaps`: a sound and the samples [first, last) that are silent.
inline void silence(std::vector<audio::AudioBuffer>& sounds, const Json& gaps) {
  for (const Json& gap : gaps) {
    audio::AudioBuffer& sound = sounds[gap[0].get<size_t>()];
    const auto channels = static_cast<int64_t>(sound.channels);
    std::fill(sound.samples.begin() + gap[1].get<int64_t>() * channels,
              sound.samples.begin() + gap[2].get<int64_t>() * channels, 0.0F);
  }
}

// The sources of a case of separation.json.
inline std::vector<audio::AudioBuffer> separation_references(const Json& rule) {
  const auto name = rule["name"].get<std::string>();
  const auto sources = rule["sources"].get<size_t>(), samples = rule["samples"].get<size_t>();
  const auto channels = rule["channels"].get<size_t>();
  std::vector<audio::AudioBuffer> references;
  for (size_t j = 0; j < sources; ++j) {
    auto y = ruled_numbers(fmt::format("{} source {}", name, j), samples);
    const double pole = 0.9 - 0.4 * static_cast<double>(j);
    for (size_t i = 1; i < samples; ++i) y[i] = y[i] + pole * y[i - 1];
    const double level = 0.2 * rule["levels"][j].get<double>();
    audio::AudioBuffer sound{8000, static_cast<int>(channels),
                             std::vector<float>(samples * channels)};
    for (size_t c = 0; c < channels; ++c) {
      const size_t k = rule["alike"].get<bool>() ? 0 : c;
      const auto room = ruled_numbers(fmt::format("{} room {} {}", name, j, k), samples);
      const double echo = 0.25 + 0.25 * static_cast<double>(k);
      const size_t delay = 7 * j + 5 * k;
      for (size_t i = 0; i < samples; ++i) {
        sound.samples[i * channels + c] = static_cast<float>(
            level * (late(y, i, delay) + echo * late(y, i, delay + 3) + 0.2 * room[i]));
      }
    }
    references.push_back(std::move(sound));
  }
  silence(references, rule["gaps"]);
  return references;
}

// One channel of an estimate.
inline std::vector<double> separation_estimate(const Json& rule,
                                               const std::vector<audio::AudioBuffer>& references,
                                               size_t j, size_t c) {
  const auto channels = static_cast<size_t>(references[j].channels);
  const double level = rule["levels"][j];
  const auto own = channel_of(references[j], c);
  const auto other = channel_of(references[j], channels - 1 - c);
  std::vector<double> sound(own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    sound[i] =
        0.9 * own[i] + 0.2 * late(own, i, 2) - 0.1 * late(other, i, 40) + 0.05 * late(own, i, 700);
  }
  for (size_t k = 0; k < references.size(); ++k) {
    if (k == j) continue;
    const auto samples = channel_of(references[k], c);
    const double bleed = rule["bleed"].get<double>() * level;
    for (size_t i = 0; i < own.size(); ++i) sound[i] += bleed * late(samples, i, 11 * (k + 1));
  }
  const auto noise = ruled_numbers(
      fmt::format("{} noise {} {}", rule["name"].get<std::string>(), j, c), own.size());
  const double noise_level = rule["noise"].get<double>() * level;
  for (size_t i = 0; i < own.size(); ++i) sound[i] += noise_level * noise[i];
  return sound;
}

inline Separation separation_of(const Json& rule) {
  Separation result{separation_references(rule), {}};
  for (size_t j = 0; j < result.references.size(); ++j) {
    audio::AudioBuffer sound = result.references[j];
    const auto channels = static_cast<size_t>(sound.channels);
    for (size_t c = 0; c < channels; ++c) {
      const auto samples = separation_estimate(rule, result.references, j, c);
      for (size_t i = 0; i < samples.size(); ++i) {
        sound.samples[i * channels + c] = static_cast<float>(samples[i]);
      }
    }
    result.estimates.push_back(std::move(sound));
  }
  silence(result.estimates, rule["estimate_gaps"]);
  for (const Json& place : rule["antiphase"]) {
    audio::AudioBuffer& sound = result.estimates[place[0].get<size_t>()];
    for (auto i = place[1].get<size_t>(); i < place[2].get<size_t>(); ++i) {
      sound.samples[2 * i + 1] = -sound.samples[2 * i];
    }
  }
  return result;
}

}  // namespace hum::eval::testing
