#include "data/stems/mma.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "data/stems/roles.h"
#include "data/stems/songs.h"

namespace hum::data {
namespace {

// Needs the package `mma`, which `make fetch` fetches.
class Mma : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto package = fetched_package("mma");
    if (!package) GTEST_SKIP() << "mma is not there: make fetch";
    package_ = *package;
    grooves_ = mma_grooves(package_);
  }
  std::filesystem::path package_;
  std::vector<MmaGroove> grooves_;
};

TEST_F(Mma, HasGrooves) {
  EXPECT_EQ(grooves_.size(), 1493u);
  std::set<std::string> names;
  for (const MmaGroove& groove : grooves_) names.insert(groove.file + ":" + groove.name);
  EXPECT_TRUE(names.contains("stdlib/50srock:50sRockSus"));
  EXPECT_FALSE(names.contains("stdlib/50srock:50sRockIntro1"));
}

TEST_F(Mma, PlaysNamedTracksTheSameWayAgain) {
  const MmaSong song{{"stdlib/50srock", "50sRockSus"}, 100, {"C", "Am", "F", "G7", "C", "C"}, 7};
  const auto midi = play_mma(package_, song);
  EXPECT_EQ(midi.tempos.back().tempo_bpm, 100);
  const auto bars = audio::bar_lines(midi);  // notes may ring on after the sixth bar
  ASSERT_GE(bars.size(), 7u);
  EXPECT_NEAR(bars[6], 6 * 2.4, 1e-3);
  std::set<Stem> stems;
  for (const PartRoles& roles : roles_of(midi, {.names = TrackNames::kMma})) {
    stems.insert(roles.front().stem);
  }
  EXPECT_TRUE(stems.contains(Stem::kDrums));
  EXPECT_TRUE(stems.contains(Stem::kBass));
  EXPECT_TRUE(stems.contains(Stem::kChordal));
  EXPECT_FALSE(stems.contains(Stem::kLead));
  const auto again = play_mma(package_, song);
  ASSERT_EQ(again.parts.size(), midi.parts.size());
  for (size_t i = 0; i < midi.parts.size(); ++i) {
    EXPECT_EQ(again.parts[i].name, midi.parts[i].name);
    EXPECT_EQ(again.parts[i].notes, midi.parts[i].notes);
  }
}

TEST_F(Mma, DrawnSongsCanBePlayed) {
  std::set<std::string> grooves;
  for (uint64_t index = 0; index < 4; ++index) {
    const MmaSong song = draw_mma_song(grooves_, 1, index);
    EXPECT_EQ(song.bars.size(), 32u);
    EXPECT_EQ(draw_mma_song(grooves_, 1, index).bars, song.bars);
    grooves.insert(song.groove.name);
    EXPECT_FALSE(play_mma(package_, song).parts.empty());
  }
  EXPECT_EQ(grooves.size(), 4u);
}

TEST_F(Mma, WhatItRejectsIsNamed) {
  try {
    play_mma(package_, {{"stdlib/50srock", "NoSuchGroove"}, 120, {"C"}, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("NoSuchGroove"));
  }
}

// A package whose program is `script`.
ExitCode end_of(const std::string& script, std::chrono::milliseconds limit = kMmaLimit) {
  const ScratchFolder package;
  std::filesystem::create_directories(package.path() / "usr/bin");
  write_file(package / "usr/bin/mma", "import os, sys, time\n" + script + "\n");
  try {
    play_mma(package.path(), {{"stdlib/rock", "Rock"}, 120, {"C"}, 1}, limit);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::kOk;
}

// A song that depended on such a fault would differ from machine to machine.
TEST(PlayMma, FaultsOfTheMachineRejectNoGroove) {
  EXPECT_EQ(end_of("print('Error: no such groove'); sys.exit(1)"), ExitCode::kBadData);
  EXPECT_EQ(end_of("os.kill(os.getpid(), 9)"), ExitCode::kTemporary);
  EXPECT_EQ(end_of("time.sleep(60)", std::chrono::milliseconds(200)), ExitCode::kTemporary);
  EXPECT_EQ(end_of("raise MemoryError"), ExitCode::kTemporary);
  EXPECT_EQ(end_of("raise OSError(28, os.strerror(28), 'song.mid')"), ExitCode::kTemporary);
  EXPECT_EQ(end_of("print('Error: Cannot write song.mid: ' + os.strerror(30)); sys.exit(1)"),
            ExitCode::kTemporary);
}

TEST(PlayMma, AFolderThatCannotBeWrittenRejectsNoGroove) {
  // Without its folder even root cannot write there.
  const ExitCode end =
      end_of("import shutil; shutil.rmtree(os.getcwd()); print('Error: no file'); sys.exit(1)");
  EXPECT_NE(end, ExitCode::kOk);
  EXPECT_NE(end, ExitCode::kBadData);
}

}  // namespace
}  // namespace hum::data
