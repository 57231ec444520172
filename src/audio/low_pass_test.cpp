#include "audio/low_pass.h"

#include <gmock/gmock.h>

#include <cmath>

#include "audio/dsp.h"
#include "audio/test_signal.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr int kSize = 4096;

// The gain in dB of each bin of an FFT: the spectrum of the answer to an impulse.
std::vector<double> response_db(int rate_hz, double cutoff_hz) {
  std::vector<float> impulse(kSize);
  impulse[kSize / 2] = 1;
  RealFft fft(kSize);
  std::vector<std::complex<float>> spectrum(static_cast<size_t>(fft.bins()));
  fft.forward(low_pass(impulse, rate_hz, cutoff_hz), spectrum);
  std::vector<double> gains;
  for (const auto& bin : spectrum) gains.push_back(20 * std::log10(std::abs(bin) + 1e-12));
  return gains;
}

TEST(LowPass, FitsTheMaskOfBs1534) {
  for (const int rate_hz : {22050, 48000}) {
    for (const double cutoff_hz : {3500.0, 7000.0}) {
      const auto gains = response_db(rate_hz, cutoff_hz);
      for (size_t i = 0; i < gains.size(); ++i) {
        const double hz = static_cast<double>(i) * rate_hz / kSize;
        if (hz <= cutoff_hz) {
          ASSERT_NEAR(gains[i], 0, 0.01) << rate_hz << " " << cutoff_hz << " " << hz;
        }
        if (hz >= cutoff_hz + 500) {
          ASSERT_LT(gains[i], -60) << rate_hz << " " << cutoff_hz << " " << hz;
        }
      }
    }
  }
}

TEST(LowPass, MovesNothingInTime) {
  const auto low = tone(1000, 0.5, 22050);
  auto both = low;
  const auto high = tone(6000, 0.5, 22050);
  for (size_t i = 0; i < both.size(); ++i) both[i] += high[i];
  const auto filtered = low_pass(both, 22050, 3500);
  ASSERT_EQ(filtered.size(), low.size());
  for (size_t i = 200; i + 200 < low.size(); ++i) ASSERT_NEAR(filtered[i], low[i], 1e-3) << i;
}

TEST(LowPass, TakesSoundsThatAreShorterThanItself) {
  EXPECT_TRUE(low_pass({}, 22050, 3500).empty());
  const std::vector<float> impulse = {1};
  const auto filtered = low_pass(impulse, 22050, 3500);
  ASSERT_EQ(filtered.size(), 1U);
  EXPECT_NEAR(filtered[0], 2 * 3750.0 / 22050, 0.01);
}

TEST(LowPass, RefusesCutoffsThatTheRateCannotHold) {
  const std::vector<float> sound(100);
  EXPECT_THROW(low_pass(sound, 22050, 0), Error);
  EXPECT_THROW(low_pass(sound, 22050, 10600), Error);
  EXPECT_THROW(low_pass(sound, 8000, 3500), Error);
}

}  // namespace
}  // namespace hum::audio
