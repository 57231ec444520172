// Separates whole sounds with tiny weights, which mean nothing but differ between the stems.
#include "models/separator/separator_session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "audio/dsp.h"
#include "base/error.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "models/separator/wiener.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::models::separator {
namespace {

using graph::DType;
using graph::Value;
using hum::testing::code_of;
using runtime::HostTensor;
using Sounds = SegmentStream::Sounds;

class TinySession : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const ScratchFolder folder;
    write_tiny_separator(folder.path());
    separator_.emplace(runtime::test_session(), folder.path() / "separator");
  }
  static void TearDownTestSuite() { separator_.reset(); }

  static Sounds separated(SegmentStream stream, std::span<const float> samples, size_t block) {
    Sounds sounds;
    for (size_t at = 0; at < samples.size(); at += block) {
      append(sounds, stream.push(samples.subspan(at, std::min(block, samples.size() - at))));
    }
    append(sounds, stream.finish());
    return sounds;
  }

  static inline std::optional<SeparatorSession> separator_;
};

TEST(SeparatorWeights, WithSizesThatDoNotFitAreRefused) {
  const ScratchFolder folder;
  write_tiny_separator(folder.path());
  const auto file = folder.path() / "separator/config.json";
  Json config = read_json(file);
  config["model"]["heads"] = 0;
  write_json(file, config);
  EXPECT_EQ(
      code_of([&] { SeparatorSession(runtime::test_session(), folder.path() / "separator"); }),
      ExitCode::kConfig);
}

std::vector<float> noise(int64_t frames, int64_t channels = kChannels) {
  Rng rng(2, "noise");
  std::vector<float> samples(static_cast<size_t>(frames * channels));
  for (float& sample : samples) sample = static_cast<float>(0.1 * rng.normal());
  return samples;
}

void expect_sum(const Sounds& stems, std::span<const float> mixture, double within) {
  for (size_t i = 0; i < mixture.size(); ++i) {
    double sum = 0;
    for (const auto& stem : stems) sum += stem.at(i);
    ASSERT_NEAR(sum, mixture[i], within) << i;
  }
}

double level(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(samples.size(), 1)));
}

TEST_F(TinySession, TheStemsAddUpToTheSongForAnyLength) {
  for (const int64_t frames : {0, 1, 100, 3000, 9973}) {
    const auto song = noise(frames);
    const Sounds stems = separated(separator_->stream(), song, 1024);
    ASSERT_EQ(stems.size(), 6U);
    for (const auto& stem : stems) ASSERT_EQ(stem.size(), song.size());
    expect_sum(stems, song, 2e-5);
  }
}

TEST_F(TinySession, GivesTheSameHoweverTheSongComes) {
  const auto song = noise(9000);
  EXPECT_EQ(separated(separator_->stream(), song, 2),
            separated(separator_->stream(), song, song.size()));
}

TEST_F(TinySession, SilenceAndMonoGiveFiniteStems) {
  std::vector<float> song(10000);
  for (const auto& stem : separated(separator_->stream(), song, 1000)) {
    EXPECT_EQ(level(stem), 0);
  }
  const auto mono = noise(5000, 1);
  for (size_t i = 0; i < song.size(); ++i) song[i] = mono[i / 2];
  const Sounds stems = separated(separator_->stream(), song, 1000);
  expect_sum(stems, song, 2e-5);
  for (const auto& stem : stems) {
    for (size_t i = 0; i < stem.size(); i += 2) EXPECT_NEAR(stem[i], stem[i + 1], 2e-4);
  }
}

// A click where segments meet would be heard far above a steady tone.
TEST_F(TinySession, SegmentsMeetWithoutClicks) {
  constexpr int64_t kFrames = 20000;
  std::vector<float> song;
  for (int64_t i = 0; i < kFrames; ++i) {
    const double sample =
        std::sin(2 * std::numbers::pi * 20.5 / 512 * static_cast<double>(i));  // 1,766 Hz
    song.push_back(static_cast<float>(0.3 * sample));
    song.push_back(static_cast<float>(0.2 * sample));
  }
  for (const auto& stem : separated(separator_->stream(), song, 1024)) {
    std::vector<float> left;
    for (size_t i = 0; i < stem.size(); i += 2) left.push_back(stem[i]);
    // Without the ends, where the tone itself begins and stops.
    const auto inner = std::span(left).subspan(1024, left.size() - 2048);
    const auto spectra = audio::stft(inner, {.window_samples = 512, .hop_samples = 128});
    double loudest = 0, above = 0;
    for (int64_t t = 4; t < spectra.rows - 4; ++t) {
      for (int64_t bin = 0; bin < spectra.columns; ++bin) {
        const double magnitude = std::abs(spectra(t, bin));
        (bin > 100 ? above : loudest) = std::max(bin > 100 ? above : loudest, magnitude);
      }
    }
    EXPECT_GT(loudest, 0.01);
    EXPECT_LT(above, 1e-3 * loudest);
  }
}

TEST_F(TinySession, TakesGivenVocalsBelowALimit) {
  constexpr int64_t kFrames = 9000;
  const auto song = noise(kFrames);
  // The vocals are 0.4 of the left channel and -0.2 of the right one.
  std::vector<float> both, vocals;
  for (size_t i = 0; i < song.size(); i += 2) {
    const float left = 0.4F * song[i], right = -0.2F * song[i + 1];
    both.insert(both.end(), {song[i], song[i + 1], left, right});
    vocals.insert(vocals.end(), {left, right});
  }
  const Sounds stems = separated(separator_->stream_with_vocals(22000), both, 4000);
  expect_sum(stems, song, 2e-5);
  std::vector<float> difference;
  for (size_t i = 0; i < vocals.size(); ++i) difference.push_back(stems[2][i] - vocals[i]);
  EXPECT_LT(level(difference), 0.15 * level(vocals)) << "all but the highest bins are given";
  const Sounds own = separated(separator_->stream(), song, 4000);
  EXPECT_NE(own[2], stems[2]);
  EXPECT_THAT(hum::testing::message_of([&] { separator_->stream_with_vocals(30000); }),
              ::testing::HasSubstr("30000"));
}

TEST(SeparatorSession, NeedsWeights) {
  EXPECT_EQ(code_of([] { SeparatorSession(runtime::test_session(), "/nonexistent/separator"); }),
            ExitCode::kNoInput);
}

// The same by the definition, with complex numbers in double.
using Complex = std::complex<double>;

struct Scene {
  int64_t stems = 3, frames = 5, bins = 4;
  std::vector<double> masks;     // [stems, frames, bins]
  std::vector<Complex> mixture;  // [2, frames, bins]

  Scene() {
    Rng rng(5, "scene");
    const auto size = static_cast<size_t>(frames * bins);
    for (size_t i = 0; i < 3 * size; ++i) masks.push_back(rng.uniform(0.05, 1));
    for (size_t i = 0; i < size; ++i) {
      const double sum = masks[i] + masks[size + i] + masks[2 * size + i];
      for (size_t k = 0; k < 3; ++k) masks[k * size + i] /= sum;
    }
    for (size_t i = 0; i < 2 * size; ++i) mixture.emplace_back(rng.normal(), rng.normal());
  }

  // Stem by stem: both channels of each bin.
  std::vector<Complex> filtered() const {
    const auto size = static_cast<size_t>(frames * bins);
    std::vector<Complex> result(static_cast<size_t>(stems) * 2 * size);
    for (size_t f = 0; f < static_cast<size_t>(bins); ++f) {
      // Spatial covariances R and their energies.
      std::vector<std::array<Complex, 4>> spatial(3);
      for (size_t k = 0; k < 3; ++k) {
        double energy = 0;
        for (size_t at = f; at < size; at += static_cast<size_t>(bins)) {
          const double gain = std::sqrt(masks[k * size + at]);
          const Complex l = gain * mixture[at], r = gain * mixture[size + at];
          spatial[k][0] += l * std::conj(l);
          spatial[k][1] += l * std::conj(r);
          spatial[k][2] += r * std::conj(l);
          spatial[k][3] += r * std::conj(r);
          energy += 0.5 * (std::norm(l) + std::norm(r));
        }
        for (Complex& entry : spatial[k]) entry /= energy;
      }
      for (size_t at = f; at < size; at += static_cast<size_t>(bins)) {
        const Complex l = mixture[at], r = mixture[size + at];
        const double power = 0.5 * (std::norm(l) + std::norm(r));
        std::vector<std::array<Complex, 4>> of(3);
        std::array<Complex, 4> whole{};
        for (size_t k = 0; k < 3; ++k) {
          const double of_stem = masks[k * size + at] * power;
          for (size_t i = 0; i < 4; ++i) {
            of[k][i] = of_stem * (spatial[k][i] + (i % 3 == 0 ? 1e-3 : 0));
            whole[i] += of[k][i];
          }
        }
        const Complex determinant = whole[0] * whole[3] - whole[1] * whole[2];
        const Complex a = (whole[3] * l - whole[1] * r) / determinant,
                      b = (whole[0] * r - whole[2] * l) / determinant;
        for (size_t k = 0; k < 3; ++k) {
          result[2 * k * size + at] = of[k][0] * a + of[k][1] * b;
          result[(2 * k + 1) * size + at] = of[k][2] * a + of[k][3] * b;
        }
      }
    }
    return result;
  }
};

// Both parts of the stems of wiener_step, [stem, channel, frame, bin].
std::vector<HostTensor> stems_of(const Scene& scene) {
  const graph::Dims mask_dims = {scene.stems, scene.frames, scene.bins},
                    dims = {2, scene.frames, scene.bins};
  std::vector<float> masks(scene.masks.begin(), scene.masks.end()), real, imag;
  for (const Complex& value : scene.mixture) {
    real.push_back(static_cast<float>(value.real()));
    imag.push_back(static_cast<float>(value.imag()));
  }
  const Value m = graph::parameter("masks", {DType::kF32, mask_dims}),
              re = graph::parameter("real", {DType::kF32, dims}),
              im = graph::parameter("imag", {DType::kF32, dims});
  const graph::Spectrum stems = wiener_step(m, {re, im});
  return runtime::evaluate(
      {stems.real, stems.imag}, {m, re, im},
      std::vector<HostTensor>{HostTensor::of(mask_dims, std::span<const float>(masks)),
                              HostTensor::of(dims, std::span<const float>(real)),
                              HostTensor::of(dims, std::span<const float>(imag))});
}

TEST(WienerStep, FollowsTheDefinition) {
  const Scene scene;
  const auto results = stems_of(scene);
  const auto wanted = scene.filtered();
  const auto found_real = results[0].to_floats(), found_imag = results[1].to_floats();
  ASSERT_EQ(found_real.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found_real[i], wanted[i].real(), 1e-3);
    EXPECT_NEAR(found_imag[i], wanted[i].imag(), 1e-3);
  }
}

TEST(WienerStep, AppliesTheMasksWhereAllComesFromOneDirection) {
  Scene scene;
  const auto size = static_cast<size_t>(scene.frames * scene.bins);
  for (size_t i = 0; i < size; ++i) scene.mixture[size + i] = 0.5 * scene.mixture[i];
  const auto found = stems_of(scene)[0].to_floats();
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t stem = i / (2 * size), bin = i % size;
    const double wanted = scene.masks[stem * size + bin] * scene.mixture[i % (2 * size)].real();
    EXPECT_NEAR(found[i], wanted, 2e-3);
  }
}

}  // namespace
}  // namespace hum::models::separator
