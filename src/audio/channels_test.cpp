#include "audio/channels.h"

#include <gtest/gtest.h>

#include "audio/test_signal.h"
#include "base/error.h"

namespace hum::audio {
namespace {

TEST(Channels, AreCodedAsTheyAreOrAsMidAndSide) {
  const std::vector<float> sound = {1, 0.5F, -0.25F, 0.75F};
  using Arrays = std::vector<std::vector<float>>;
  EXPECT_EQ(coded_channels(sound, Channels::kMono), (Arrays{sound}));
  EXPECT_EQ(coded_channels(sound, Channels::kLeftRight), (Arrays{{1, -0.25F}, {0.5F, 0.75F}}));
  EXPECT_EQ(coded_channels(sound, Channels::kMidSide), (Arrays{{0.75F, 0.25F}, {0.25F, -0.5F}}));
  EXPECT_THROW(coded_channels(std::span(sound).first(3), Channels::kMidSide), Error);
}

TEST(Channels, AreHeardAsTheyWereBeforeTheyWereCoded) {
  const auto sound = test_signal(1000, 22050);
  for (const auto channels : {Channels::kMono, Channels::kLeftRight, Channels::kMidSide}) {
    const auto heard = heard_channels(coded_channels(sound, channels), channels);
    ASSERT_EQ(heard.size(), sound.size());
    for (size_t i = 0; i < sound.size(); ++i) ASSERT_NEAR(heard[i], sound[i], 1e-6) << i;
  }
  const std::vector<std::vector<float>> uneven = {{1, 2}, {3}};
  EXPECT_THROW(heard_channels(uneven, Channels::kLeftRight), Error);
}

}  // namespace
}  // namespace hum::audio
