#include "audio/equaliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr int kRate = 22050, kSize = 1 << 14;

// What the bands do to each frequency, read from an impulse, in dB.
class Response {
 public:
  explicit Response(const std::vector<EqualiserBand>& bands) {
    std::vector<float> impulse(kSize);
    impulse[0] = 1;
    equalise(impulse, 1, kRate, bands);
    RealFft fft(kSize);
    spectrum_.resize(static_cast<size_t>(fft.bins()));
    fft.forward(impulse, spectrum_);
  }
  double db(double hz) const {
    const auto bin = static_cast<size_t>(std::lround(hz / kRate * kSize));
    return 20 * std::log10(std::abs(spectrum_[bin]));
  }

 private:
  std::vector<std::complex<float>> spectrum_;
};

TEST(Equaliser, APeakReachesItsGainAtItsFrequencyAndHalfOfItAtTheBandsEdges) {
  for (const double gain : {-12.0, 9.0}) {
    const Response response({{EqualiserShape::kPeak, 1000, gain, 2}});
    EXPECT_NEAR(response.db(1000), gain, 0.02);
    EXPECT_NEAR(response.db(0), 0, 0.01);
    EXPECT_NEAR(response.db(kRate / 2.0), 0, 0.01);
    // Q is centre over bandwidth, between the points of half the gain in dB (the bilinear
    // transform narrows it a little).
    EXPECT_NEAR(response.db(1000 * (std::sqrt(1 + 1 / 16.0) + 0.25)), gain / 2, 0.15);
    EXPECT_NEAR(response.db(1000 * (std::sqrt(1 + 1 / 16.0) - 0.25)), gain / 2, 0.15);
  }
}

TEST(Equaliser, ShelvesLiftOneSideWithoutOvershootAndAreHalfWayAtTheirFrequency) {
  const Response low({{EqualiserShape::kLowShelf, 500, 8, std::sqrt(0.5)}});
  EXPECT_NEAR(low.db(0), 8, 0.01);
  EXPECT_NEAR(low.db(500), 4, 0.02);
  EXPECT_NEAR(low.db(kRate / 2.0), 0, 0.01);
  const Response high({{EqualiserShape::kHighShelf, 3000, -6, std::sqrt(0.5)}});
  EXPECT_NEAR(high.db(0), 0, 0.01);
  EXPECT_NEAR(high.db(3000), -3, 0.02);
  EXPECT_NEAR(high.db(kRate / 2.0), -6, 0.01);
  for (double hz = 100; hz < 10000; hz += 100) {
    EXPECT_GE(low.db(hz), low.db(hz + 100) - 1e-3);
    EXPECT_GE(high.db(hz), high.db(hz + 100) - 1e-3);
  }
}

TEST(Equaliser, BandsAddUpAndChannelsStayApart) {
  const std::vector<EqualiserBand> bands = {{EqualiserShape::kPeak, 700, 5, 1},
                                            {EqualiserShape::kHighShelf, 2000, -4, 0.7071}};
  const Response both(bands), first({bands[0]}), second({bands[1]});
  for (double hz = 0; hz < 11000; hz += 500) {
    EXPECT_NEAR(both.db(hz), first.db(hz) + second.db(hz), 1e-3);
  }
  std::vector<float> stereo(200), left(100);
  stereo[0] = left[0] = 1;  // right stays silent
  equalise(stereo, 2, kRate, bands);
  equalise(left, 1, kRate, bands);
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(stereo[2 * i], left[i]);
    EXPECT_EQ(stereo[2 * i + 1], 0);
  }
}

TEST(Equaliser, ABandThatTheRateCannotHoldIsRefused) {
  std::vector<float> samples(10);
  const std::vector<EqualiserBand> bands = {{.frequency_hz = 12000}};
  EXPECT_THROW(equalise(samples, 1, kRate, bands), Error);
}

}  // namespace
}  // namespace hum::audio
