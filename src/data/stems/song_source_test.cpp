#include "data/stems/song_source.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "data/stems/testing_impl.h"

namespace hum::data {
namespace {

using ::testing::HasSubstr;

// Needs the packages that `make fetch` fetches.
StemOptions fetched_options() {
  StemOptions options;
  options.packages = {"openttd-openmsx", "planetblupi-music-midi"};
  return options;
}
bool are_fetched() {
  for (const char* name : {"openttd-openmsx", "planetblupi-music-midi", "mma"}) {
    if (!fetched_package(name)) return false;
  }
  return true;
}

TEST(IsHeldOut, DependsOnTheNameAlone) {
  int held_out = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("song {}", i);
    const bool is_out = is_held_out(name, 0.15);
    held_out += is_out ? 1 : 0;
    EXPECT_TRUE(!is_out || is_held_out(name, 0.3)) << "a larger share keeps those of a smaller";
  }
  EXPECT_NEAR(held_out, 150, 40);
}

TEST(SongSource, DrawsEveryKindTheSameWayAgain) {
  if (!are_fetched()) GTEST_SKIP() << "songs are not there: make fetch";
  StemOptions options = fetched_options();
  options.mma_share = 0.2;
  options.own_share = 0.3;
  const SongSource source(options, testing::small_bands());
  std::map<std::string, int> drawn;
  for (uint64_t index = 0; index < 15; ++index) {
    const BandSong song = source.draw(index);
    ++drawn[song.package];
    EXPECT_EQ(song.song.sha256.size(), 64U);
    EXPECT_FALSE(song.licence.empty());
    EXPECT_EQ(song.names == TrackNames::kMma, song.package == "mma");
    if (song.package != "mma") continue;
    EXPECT_EQ(song.song.midi.parts.back().name, "Melody");
    if (drawn["mma"] == 1) {
      EXPECT_EQ(source.draw(index).song.sha256, song.song.sha256);
    }
  }
  EXPECT_GT(drawn["mma"], 0);
  EXPECT_GT(drawn["hum"], 0);
  EXPECT_GT(drawn["openttd-openmsx"] + drawn["planetblupi-music-midi"], 2);
  EXPECT_EQ(source.packages().size(), 3U);
  EXPECT_THAT(source.packages().at("mma").get<std::string>(), HasSubstr("21.09"));
}

TEST(SongSource, SplitsHaveNoSongInCommon) {
  if (!are_fetched()) GTEST_SKIP() << "songs are not there: make fetch";
  StemOptions options = fetched_options();
  options.mma_share = options.own_share = 0;
  std::set<std::string> songs[2];
  for (const Split split : {Split::kTraining, Split::kHeldOut}) {
    options.split = split;
    const SongSource source(options, {});
    for (uint64_t index = 0; index < 100; ++index) {
      songs[static_cast<size_t>(split)].insert(source.draw(index).song.sha256);
    }
  }
  EXPECT_GT(songs[0].size(), 20U);
  EXPECT_GT(songs[1].size(), 1U);
  for (const auto& song : songs[1]) EXPECT_FALSE(songs[0].contains(song));
}

TEST(SongSource, WhatItLacksIsNamed) {
  StemOptions options = testing::small_options();
  options.own_share = 0;
  options.packages = {"freedoom"};
  const auto message = [&] {
    return hum::testing::message_of([&] { SongSource(options, testing::small_bands()); });
  };
  if (!fetched_package("freedoom")) {
    EXPECT_THAT(message(), HasSubstr("freedoom is not fetched"));
  }
  options.packages = {"nosuch"};
  EXPECT_THAT(message(), HasSubstr("'nosuch'"));
  options.packages = {};
  EXPECT_THAT(message(), HasSubstr("no training songs"));
  options.mma_share = 1.5;
  EXPECT_THAT(message(), HasSubstr("stems.mma_share = 1.5"));
  options.mma_share = 0;
  options.sound_fonts = {"nosuch"};
  EXPECT_THAT(message(), HasSubstr("unknown sound font 'nosuch'"));
}

}  // namespace
}  // namespace hum::data
