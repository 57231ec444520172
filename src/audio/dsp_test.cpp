#include "audio/dsp.h"

#include <gmock/gmock.h>

#include "audio/loudness.h"
#include "audio/resample.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"

namespace hum::audio {
namespace {

Json golden(const std::string& name) {
  return read_json(source_folder() / "tests/data/audio" / (name + ".json"));
}

// Largest difference, as a fraction of the largest expected magnitude.
double relative_error(std::span<const float> actual, const std::vector<double>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double error = 0, scale = 0;
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    error = std::max(error, std::abs(actual[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return error / scale;
}

TEST(RealFft, InverseUndoesForwardForSizesThatAreNoPowersOfTwo) {
  for (const int size : {2, 6, 294, 588, 882, 2048}) {
    const auto signal = test_signal(size, 22050);
    RealFft fft(size);
    std::vector<std::complex<float>> spectrum(static_cast<size_t>(fft.bins()));
    std::vector<float> back(signal.size());
    fft.forward(signal, spectrum);
    fft.inverse(spectrum, back);
    for (size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], signal[i], 1e-6) << size;
  }
  EXPECT_THROW(RealFft(7), Error);
}

TEST(Stft, AgreesWithLibrosa) {
  const auto signal = test_signal(3001, 22050);
  const Json rows = golden("dsp")["stft"];
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    const Padding padding = row["padding"] == "reflect" ? Padding::kReflect : Padding::kZero;
    const auto spectrum =
        stft(signal, {.window_samples = 256, .hop_samples = 60, .padding = padding});
    ASSERT_EQ(spectrum.rows, row["frames"]);
    std::vector<float> actual;
    for (const auto& value : spectrum.row(row["frame"])) actual.push_back(value.real());
    for (const auto& value : spectrum.row(row["frame"])) actual.push_back(value.imag());
    std::vector<double> expected = row["real"];
    for (const double value : row["imag"]) expected.push_back(value);
    EXPECT_LT(relative_error(actual, expected), 1e-5);
  }
}

TEST(Stft, InverseGivesTheSignalBack) {
  const auto signal = test_signal(5003, 22050);
  for (const int hop : {128, 147, 256, 441}) {
    for (const Padding padding : {Padding::kZero, Padding::kReflect}) {
      const StftOptions options{.window_samples = 882, .hop_samples = hop, .padding = padding};
      const auto back = istft(stft(signal, options), 5003, options);
      ASSERT_EQ(back.size(), signal.size());
      // The last frame may end before the signal does: compare only what its window covers well.
      const int64_t end = std::min<int64_t>(5003, 5003 / hop * hop + 200);
      for (int64_t i = 0; i < end; ++i) {
        ASSERT_NEAR(back[static_cast<size_t>(i)], signal[static_cast<size_t>(i)], 2e-5)
            << hop << " " << i;
      }
    }
  }
}

TEST(Stft, FramesWithoutCenteringAreWhole) {
  const StftOptions options{.window_samples = 100, .hop_samples = 30, .centered = false};
  EXPECT_EQ(stft(std::vector<float>(99), options).rows, 0);
  EXPECT_EQ(stft(std::vector<float>(100), options).rows, 1);
  EXPECT_EQ(stft(std::vector<float>(160), options).rows, 3);
}

TEST(Mel, AgreesWithLibrosaOnBothScales) {
  const auto signal = test_signal(3001, 22050);
  const Json rows = golden("dsp")["mel"];
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    const MelOptions options{.bands = row["bands"],
                             .low_hz = 30,
                             .high_hz = 8000,
                             .scale = row["htk"] ? MelScale::kHtk : MelScale::kSlaney,
                             .normalised = row["normalised"]};
    const auto mel =
        mel_spectrogram(signal, 22050, {.window_samples = row["window"], .hop_samples = 128},
                        options, row["power"]);
    ASSERT_EQ(mel.rows, row["frames"]);
    EXPECT_LT(relative_error(mel.row(row["frame"]), row["values"]), 1e-5);
  }
}

TEST(Mfcc, AgreesWithLibrosa) {
  const Json expected = golden("dsp")["mfcc"];
  const auto actual = mfcc(test_signal(3001, 22050), 22050, {.coefficients = 13});
  ASSERT_EQ(actual.rows, expected["frames"]);
  EXPECT_LT(relative_error(actual.values, expected["values"]), 1e-5);
}

TEST(Resample, AgreesWithLibrosaInValuesAndLength) {
  const Json rows = golden("dsp")["resample"];
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    const auto signal = test_signal(row["samples"], row["from"]);
    const auto actual = resample(signal, row["from"], row["to"]);
    EXPECT_LT(relative_error(actual, row["values"]), 1e-6) << row["from"] << " -> " << row["to"];
  }
}

TEST(Resample, KeepsChannelsApart) {
  const auto left = test_signal(1000, 44100), right = tone(300, 0.1, 44100);
  AudioBuffer stereo{44100, 2, {}};
  for (size_t i = 0; i < 1000; ++i) {
    stereo.samples.push_back(left[i]);
    stereo.samples.push_back(right[i]);
  }
  const AudioBuffer result = resample(stereo, 22050);
  const auto expected_left = resample(left, 44100, 22050);
  const auto expected_right = resample(std::span(right).first(1000), 44100, 22050);
  ASSERT_EQ(result.frames(), 500);
  for (size_t i = 0; i < 500; ++i) {
    EXPECT_FLOAT_EQ(result.samples[2 * i], expected_left[i]);
    EXPECT_FLOAT_EQ(result.samples[2 * i + 1], expected_right[i]);
  }
}

TEST(Loudness, AgreesWithPyloudnorm) {
  const Json rows = golden("loudness")["rows"];
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    const int rate_hz = row["rate"];
    auto signal =
        test_signal(static_cast<int64_t>(row["seconds"].get<double>() * rate_hz), rate_hz);
    for (float& sample : signal) sample *= row["gain"].get<float>();
    EXPECT_NEAR(integrated_lufs(signal, rate_hz), row["lufs"], 0.01);
  }
}

TEST(Loudness, OfBlocksIsThatOfTheWhole) {
  const auto signal = test_signal(60000, 22050);
  for (const size_t samples : {size_t{4000}, size_t{17640}, signal.size()}) {  // 8820 are a block
    const auto sound = std::span(signal).first(samples);
    for (const size_t block : {2U, 1000U, 9998U}) {
      LoudnessMeter loudness(22050, 2);
      TruePeakMeter peak(22050, 2);
      for (size_t at = 0; at < samples; at += block) {
        loudness.add(sound.subspan(at, std::min(block, samples - at)));
        peak.add(sound.subspan(at, std::min(block, samples - at)));
      }
      EXPECT_NEAR(loudness.integrated_lufs(), integrated_lufs(sound, 22050, 2), 1e-9);
      EXPECT_NEAR(peak.dbtp(), true_peak_dbtp(sound, 22050, 2), 1e-9);
    }
  }
  EXPECT_EQ(LoudnessMeter(22050, 1).integrated_lufs(), integrated_lufs({}, 22050));
  EXPECT_LT(integrated_lufs({}, 22050), -1e9);
}

TEST(Loudness, ATruePeakBetweenSamplesIsSeen) {
  // A quarter of the rate, 45 degrees off: every sample is 0.707, the wave is 1.
  std::vector<float> signal(4410);
  for (size_t i = 0; i < signal.size(); ++i) {
    signal[i] =
        static_cast<float>(std::sin(std::numbers::pi * (0.5 * static_cast<double>(i) + 0.25)));
  }
  EXPECT_NEAR(true_peak_dbtp(signal, 44100), 0, 0.3);
}

TEST(Loudness, NormalisingReachesTheTargetOrThePeakLimit) {
  auto steady = test_signal(44100, 22050);
  EXPECT_GT(std::abs(normalise(steady, 22050)), 0.1);
  EXPECT_NEAR(integrated_lufs(steady, 22050), -16, 0.05);

  auto spiky = std::vector<float>(44100, 0);
  for (size_t i = 0; i < spiky.size(); i += 2000) spiky[i] = 0.01f;
  normalise(spiky, 22050);
  EXPECT_LT(integrated_lufs(spiky, 22050), -17);
  EXPECT_NEAR(true_peak_dbtp(spiky, 22050), -1, 0.05);
}

TEST(Loudness, ShortSoundIsMeasuredWholeAndSilenceIsLeftAlone) {
  const auto long_tone = tone(997, 2, 48000);
  const double lufs = integrated_lufs(long_tone, 48000);
  for (const int64_t frames : {2400, 12000, 19199, 19201}) {
    EXPECT_NEAR(integrated_lufs(std::span(long_tone).first(static_cast<size_t>(frames)), 48000),
                lufs, 0.3)
        << frames;
  }
  std::vector<float> silence(48000), nothing;
  EXPECT_EQ(normalise(silence, 48000), 0);
  EXPECT_EQ(normalise(nothing, 48000), 0);
  EXPECT_EQ(silence, std::vector<float>(48000));
}

}  // namespace
}  // namespace hum::audio
