#include "audio/flac.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "audio/io.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/scratch_folder.h"

namespace hum::audio {
namespace {

constexpr int kRate = 44100;

std::vector<int16_t> stereo_signal() {
  const auto signal = test_signal(30000, kRate);
  std::vector<int16_t> samples;
  for (size_t i = 0; i < signal.size(); ++i) {
    samples.push_back(static_cast<int16_t>(std::lround(20000 * signal[i])));
    samples.push_back(static_cast<int16_t>(i % 1000));
  }
  return samples;
}

TEST(Flac, AnyPartComesBackToTheBit) {
  const auto samples = stereo_signal();
  const std::string file = flac_file(samples, kRate, 2);
  EXPECT_LT(file.size(), 2 * samples.size());
  EXPECT_EQ(file, flac_file(samples, kRate, 2));
  for (const int64_t first : {0, 1, 4095, 12345, 29000}) {
    std::vector<float> part(2 * 1000);
    read_flac(file, first, 2, part);
    for (size_t i = 0; i < part.size(); ++i) {
      ASSERT_EQ(part[i] * 32768, samples[2 * static_cast<size_t>(first) + i]) << first << " " << i;
    }
  }
}

// Noise, which is stored sample by sample, with the bytes of a header of a frame in it.
std::vector<int16_t> like_headers(int64_t frames) {
  Rng rng(1, "noise");
  std::vector<int16_t> samples;
  for (int64_t i = 0; i < 2 * frames; ++i) {
    samples.push_back(static_cast<int16_t>(rng.integer(-32768, 32767)));
  }
  constexpr int kHeader[] = {0xfff9, 0xa45c, 0x6d8b};
  for (size_t i = 0; i + 6 < samples.size(); i += 128) {
    for (size_t k = 0; k < 3; ++k) samples[i + 2 * k] = static_cast<int16_t>(kHeader[k]);
  }
  return samples;
}

TEST(Flac, IsReadFromAnyPlaceThoughItsSoundLooksLikeHeaders) {
  const auto samples = like_headers(20000);
  const std::string file = flac_file(samples, kRate, 2);
  for (const int64_t first : {0, 1154, 9500, 18999}) {
    std::vector<float> part(2 * 1000);
    read_flac(file, first, 2, part);
    for (size_t i = 0; i < part.size(); ++i) {
      ASSERT_EQ(part[i] * 32768, samples[2 * static_cast<size_t>(first) + i]) << first << " " << i;
    }
  }
}

TEST(Flac, IsAFileThatOthersRead) {
  const ScratchFolder folder;
  const auto samples = stereo_signal();
  write_file(folder / "a.flac", flac_file(samples, kRate, 2));
  const AudioBuffer read = read_audio(folder / "a.flac");
  EXPECT_EQ(read.rate_hz, kRate);
  EXPECT_EQ(read.channels, 2);
  ASSERT_EQ(read.samples.size(), samples.size());
  EXPECT_EQ(read.samples[777] * 32768, samples[777]);
}

TEST(Flac, DamageAndWrongShapesAreRefused) {
  const std::string file = flac_file(stereo_signal(), kRate, 2);
  std::vector<float> part(2 * 1000);
  EXPECT_THROW(read_flac("", 0, 2, part), Error);
  EXPECT_THROW(read_flac("no sound at all", 0, 2, part), Error);
  EXPECT_THROW(read_flac(file, 0, 1, part), Error);
  EXPECT_THROW(read_flac(file, 29001, 2, part), Error);
  EXPECT_THROW(read_flac(std::string_view(file).substr(0, file.size() / 2), 28000, 2, part), Error);
}

}  // namespace
}  // namespace hum::audio
