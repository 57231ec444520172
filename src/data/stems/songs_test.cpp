#include "data/stems/songs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "data/stems/roles.h"

namespace hum::data {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::string little_endian(size_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string wad_of(const std::vector<std::pair<std::string, std::string>>& lumps) {
  std::string content, directory;
  for (const auto& [name, bytes] : lumps) {
    directory += little_endian(12 + content.size()) + little_endian(bytes.size()) + name +
                 std::string(8 - name.size(), '\0');
    content += bytes;
  }
  return "PWAD" + little_endian(lumps.size()) + little_endian(12 + content.size()) + content +
         directory;
}

std::string midi_of(int pitch) {
  return audio::format_midi_song(std::vector<audio::MidiPart>{
      {.program = 40, .name = "violin", .notes = {{0, 1, pitch, 0.7, {}}}}});
}

TEST(Songs, AWadHasNamedLumps) {
  const std::string wad = wad_of({{"MAP01", ""}, {"D_RUNNIN", "one"}, {"TITLEPIC", "picture"}});
  const auto lumps = wad_lumps(wad);
  ASSERT_EQ(lumps.size(), 3u);
  EXPECT_EQ(lumps[0].name, "MAP01");
  EXPECT_EQ(lumps[0].bytes, "");
  EXPECT_EQ(lumps[1].name, "D_RUNNIN");
  EXPECT_EQ(lumps[1].bytes, "one");
  EXPECT_EQ(lumps[2].bytes, "picture");
}

TEST(Songs, EveryTruncationOfAWadIsRefused) {
  const std::string wad = wad_of({{"D_ONE", "one"}, {"D_TWO", "two"}});
  for (size_t size = 0; size < wad.size(); ++size) {
    EXPECT_THROW(wad_lumps(std::string_view(wad).substr(0, size)), Error) << size;
  }
  std::string far = wad;
  far[far.size() - 16 + 3] = '\xff';  // the last lump's place
  EXPECT_THROW(wad_lumps(far), Error);
}

TEST(Songs, AreReadFromFilesAndWadsOnceEach) {
  const ScratchFolder scratch;
  create_folder(scratch / "music");
  write_file(scratch / "music/b.MID", midi_of(60));
  write_file(scratch / "music/c.mid", midi_of(60));
  write_file(scratch / "music/readme.txt", midi_of(61));
  write_file(scratch / "doom.wad", wad_of({{"D_ONE", midi_of(62)},
                                           {"D_MUS", "MUS\x1a"},
                                           {"D_AGAIN", midi_of(60)},
                                           {"DEMO1", midi_of(63)}}));
  const SongFolder found = read_songs(scratch.path());
  ASSERT_EQ(found.songs.size(), 2u);
  EXPECT_EQ(found.songs[0].name, "doom/D_AGAIN");
  EXPECT_EQ(found.songs[1].name, "doom/D_ONE");
  EXPECT_EQ(found.songs[1].midi.parts[0].notes[0].pitch, 62);
  EXPECT_EQ(found.songs[1].sha256.size(), 64u);
  EXPECT_THAT(found.unreadable, ElementsAre(StartsWith("doom/D_MUS: not a valid MIDI file")));
}

// Every song of a fetched package can be read, and has parts of several stems.
class FetchedSongs : public ::testing::TestWithParam<std::pair<const char*, size_t>> {};
INSTANTIATE_TEST_SUITE_P(All, FetchedSongs,
                         ::testing::Values(std::pair("openttd-openmsx", size_t{31}),
                                           std::pair("planetblupi-music-midi", size_t{10}),
                                           std::pair("freedoom", size_t{66})));

TEST_P(FetchedSongs, AreBands) {
  const auto [name, count] = GetParam();
  const auto package = fetched_package(name);
  if (!package) GTEST_SKIP() << name << " is not there: make fetch-stems";
  const SongFolder found = read_songs(*package);
  EXPECT_THAT(found.unreadable, ElementsAre());
  EXPECT_EQ(found.songs.size(), count);
  size_t with_lead = 0, with_chords = 0, with_bass = 0;
  for (const Song& song : found.songs) {
    std::vector<Stem> stems;
    for (const PartRoles& roles : roles_of(song.midi)) {
      for (const RoleSpan& span : roles) stems.push_back(span.stem);
    }
    const auto has = [&](Stem stem) { return std::ranges::count(stems, stem) > 0 ? 1U : 0U; };
    with_lead += has(Stem::kLead);
    with_chords += has(Stem::kChordal);
    with_bass += has(Stem::kBass);
  }
  EXPECT_GT(with_lead, count / 2);
  EXPECT_GT(with_chords, count / 2);
  EXPECT_GT(with_bass, count / 2);
}

}  // namespace
}  // namespace hum::data
