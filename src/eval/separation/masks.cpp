#include "eval/separation/masks.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "eval/separation/spectra_impl.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;
using audio::Matrix;

constexpr int64_t kMedian = 17;  // frames, and bins
constexpr float kTiny = std::numeric_limits<double>::epsilon();

// Mirrored at the ends: -1 is 0, -2 is 1.
int64_t mirrored(int64_t i, int64_t size) {
  const int64_t folded = ((i % (2 * size)) + 2 * size) % (2 * size);
  return folded < size ? folded : 2 * size - 1 - folded;
}

// The median of kMedian values around (frame, bin), along one of the two.
float median_around(const Matrix<float>& values, int64_t frame, int64_t bin, bool along_frames) {
  std::array<float, kMedian> around{};
  for (int64_t i = 0; i < kMedian; ++i) {
    const int64_t shift = i - kMedian / 2;
    around[static_cast<size_t>(i)] = along_frames
                                         ? values(mirrored(frame + shift, values.rows), bin)
                                         : values(frame, mirrored(bin + shift, values.columns));
  }
  const auto middle = around.begin() + kMedian / 2;
  std::ranges::nth_element(around, middle);
  return *middle;
}

Matrix<float> mean_magnitude(const Spectra& spectra) {
  Matrix<float> mean(spectra[0].rows, spectra[0].columns);
  for (const auto& channel : spectra) {
    for (size_t i = 0; i < mean.values.size(); ++i) {
      mean.values[i] += std::abs(channel.values[i]) / static_cast<float>(spectra.size());
    }
  }
  return mean;
}

Spectra masked(const Spectra& mixture, const std::vector<Matrix<float>>& masks) {
  Spectra result = mixture;
  for (size_t c = 0; c < result.size(); ++c) {
    const auto& mask = masks[std::min(c, masks.size() - 1)].values;
    for (size_t i = 0; i < mask.size(); ++i) result[c].values[i] *= mask[i];
  }
  return result;
}

// Powers per channel, or one matrix of their sums.
std::vector<Matrix<float>> powers_of(const AudioBuffer& sound, MaskChannels channels) {
  const Spectra spectra = spectra_of(sound);
  std::vector<Matrix<float>> powers;
  for (size_t c = 0; c < spectra.size(); ++c) {
    if (c == 0 || channels == MaskChannels::kEach) {
      powers.emplace_back(spectra[c].rows, spectra[c].columns);
    }
    auto& power = powers.back().values;
    for (size_t i = 0; i < power.size(); ++i) power[i] += std::norm(spectra[c].values[i]);
  }
  return powers;
}

}  // namespace

void require_alike(const AudioBuffer& mixture, std::span<const AudioBuffer> stems) {
  HUM_REQUIRE(!stems.empty(), "masks: no stems");
  for (const AudioBuffer& stem : stems) {
    HUM_REQUIRE(stem.rate_hz == mixture.rate_hz && stem.channels == mixture.channels &&
                    stem.samples.size() == mixture.samples.size(),
                "masks: a stem of {} samples in {} channels at {} Hz, a mixture of {} in {} at {}",
                stem.frames(), stem.channels, stem.rate_hz, mixture.frames(), mixture.channels,
                mixture.rate_hz);
  }
}

Spectra spectra_of(const AudioBuffer& sound) {
  Spectra spectra;
  const auto channels = static_cast<size_t>(sound.channels);
  std::vector<float> samples(static_cast<size_t>(sound.frames()));
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = sound.samples[i * channels + c];
    spectra.push_back(audio::stft(samples, kMaskStft));
  }
  return spectra;
}

AudioBuffer sound_of(const Spectra& spectra, const AudioBuffer& like) {
  AudioBuffer sound{like.rate_hz, like.channels, std::vector<float>(like.samples.size())};
  for (size_t c = 0; c < spectra.size(); ++c) {
    const auto samples = audio::istft(spectra[c], like.frames(), kMaskStft);
    for (size_t i = 0; i < samples.size(); ++i) sound.samples[i * spectra.size() + c] = samples[i];
  }
  return sound;
}

AudioBuffer sum_of(std::span<const AudioBuffer> stems) {
  HUM_REQUIRE(!stems.empty(), "sum_of: no stems");
  require_alike(stems[0], stems);
  AudioBuffer sum{stems[0].rate_hz, stems[0].channels, std::vector<float>(stems[0].samples.size())};
  for (size_t i = 0; i < sum.samples.size(); ++i) {
    double total = 0;
    for (const AudioBuffer& stem : stems) total += stem.samples[i];
    sum.samples[i] = static_cast<float>(total);
  }
  return sum;
}

AudioBuffer best_scaled(const AudioBuffer& mixture, const AudioBuffer& stem) {
  require_alike(mixture, {&stem, 1});
  double product = 0, energy = 0;
  for (size_t i = 0; i < mixture.samples.size(); ++i) {
    const double sample = mixture.samples[i];
    product += sample * stem.samples[i];
    energy += sample * sample;
  }
  const auto gain = static_cast<float>(energy > 0 ? product / energy : 0);
  AudioBuffer scaled = mixture;
  for (float& sample : scaled.samples) sample *= gain;
  return scaled;
}

SteadyAndSudden steady_and_sudden(const AudioBuffer& mixture) {
  const Spectra spectra = spectra_of(mixture);
  const Matrix<float> magnitude = mean_magnitude(spectra);
  std::vector<Matrix<float>> steady(1, Matrix<float>(magnitude.rows, magnitude.columns));
  auto sudden = steady;
  parallel_for(magnitude.rows, compute_threads(), [&](int64_t frame) {
    for (int64_t bin = 0; bin < magnitude.columns; ++bin) {
      const double in_time = median_around(magnitude, frame, bin, /*along_frames=*/true);
      const double in_pitch = median_around(magnitude, frame, bin, /*along_frames=*/false);
      const double sum = in_time * in_time + in_pitch * in_pitch;
      const double share = sum > 0 ? in_time * in_time / sum : 0.5;
      steady[0](frame, bin) = static_cast<float>(share);
      sudden[0](frame, bin) = static_cast<float>(1 - share);
    }
  });
  return {sound_of(masked(spectra, steady), mixture), sound_of(masked(spectra, sudden), mixture)};
}

std::vector<AudioBuffer> ideal_binary_masks(const AudioBuffer& mixture,
                                            std::span<const AudioBuffer> stems) {
  require_alike(mixture, stems);
  const Spectra spectra = spectra_of(mixture);
  std::vector<AudioBuffer> estimates;
  for (const AudioBuffer& stem : stems) {
    auto masks = powers_of(stem, MaskChannels::kEach);
    for (size_t c = 0; c < masks.size(); ++c) {
      auto& mask = masks[c].values;
      for (size_t i = 0; i < mask.size(); ++i) {
        const float whole = kTiny + std::norm(spectra[c].values[i]);
        mask[i] = mask[i] >= 0.5F * whole ? 1.0F : 0.0F;
      }
    }
    estimates.push_back(sound_of(masked(spectra, masks), mixture));
  }
  return estimates;
}

std::vector<AudioBuffer> ideal_ratio_masks(const AudioBuffer& mixture,
                                           std::span<const AudioBuffer> stems,
                                           MaskChannels channels) {
  require_alike(mixture, stems);
  std::vector<Matrix<float>> whole;
  for (const AudioBuffer& stem : stems) {
    const auto powers = powers_of(stem, channels);
    if (whole.empty()) {
      for (const auto& power : powers) whole.emplace_back(power.rows, power.columns);
    }
    for (size_t c = 0; c < powers.size(); ++c) {
      for (size_t i = 0; i < powers[c].values.size(); ++i) {
        whole[c].values[i] += powers[c].values[i];
      }
    }
  }
  const Spectra spectra = spectra_of(mixture);
  std::vector<AudioBuffer> estimates;
  for (const AudioBuffer& stem : stems) {
    auto masks = powers_of(stem, channels);
    for (size_t c = 0; c < masks.size(); ++c) {
      auto& mask = masks[c].values;
      for (size_t i = 0; i < mask.size(); ++i) mask[i] /= kTiny + whole[c].values[i];
    }
    estimates.push_back(sound_of(masked(spectra, masks), mixture));
  }
  return estimates;
}

}  // namespace hum::eval
