#include "data/stems/stem_shards.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/shards/manifest.h"
#include "data/shards/testing.h"
#include "data/singing/sung_shards.h"
#include "data/stems/roles.h"
#include "data/stems/testing_impl.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

MakeStemsOptions small_shards() {
  return {.material = testing::small_options(), .count = 3, .windows_per_shard = 1};
}

TEST(StemShards, HoldWhatWasRendered) {
  const ScratchFolder folder;
  const MakeStemsOptions options = small_shards();
  ASSERT_TRUE(make_stems(folder.path(), options, testing::small_bands()));
  EXPECT_THAT(verify_shards(folder.path(), 1), IsEmpty());
  const StemFolder stems(folder.path());
  ASSERT_EQ(stems.size(), 3);
  EXPECT_EQ(stems.frames(), 3 * kStemRate);
  const SongSource source(options.material, testing::small_bands());
  StemRenderer renderer(options.material, source);
  for (int64_t i = 0; i < stems.size(); ++i) {
    const StemWindow made = renderer.render(static_cast<uint64_t>(i));
    EXPECT_EQ(stems[i].meta(), made.description);
    for (const Stem stem : kStems) {
      const auto& samples = made.stems[static_cast<size_t>(stem)];
      ASSERT_EQ(stems[i].has(stem), !samples.empty());
      std::vector<float> read(2 * 1000, 1.0F);
      stems[i].read(stem, 500, read);
      for (size_t k = 0; k < read.size(); ++k) {
        ASSERT_EQ(read[k] * 32768, samples.empty() ? 0 : samples[1000 + k]);
      }
    }
  }
}

TEST(StemShards, AreTheSameForAnyNumberOfProcessesAndResumed) {
  const ScratchFolder one, two;
  const MakeStemsOptions options = small_shards();
  std::atomic<int> asked = 0;
  EXPECT_FALSE(
      make_stems(one.path(), options, testing::small_bands(), {}, [&] { return ++asked > 1; }));
  EXPECT_TRUE(make_stems(one.path(), options, testing::small_bands()));
  EXPECT_FALSE(make_stems(two.path(), options, testing::small_bands(), {0, 2}));
  EXPECT_TRUE(make_stems(two.path(), options, testing::small_bands(), {1, 2}));
  EXPECT_EQ(read_file(one / "shards.json"), read_file(two / "shards.json"));
  EXPECT_EQ(files_of(one.path()), files_of(two.path()));
}

TEST(StemShards, OtherOptionsAndOtherItemsAreRefused) {
  const ScratchFolder stems, voices;
  MakeStemsOptions options = small_shards();
  options.count = 1;
  make_stems(stems.path(), options, testing::small_bands());
  options.material.seed = 2;
  EXPECT_THAT(
      hum::testing::message_of([&] { make_stems(stems.path(), options, testing::small_bands()); }),
      HasSubstr("other options"));
  EXPECT_THAT(hum::testing::message_of([&] { SungFolder{stems.path()}; }),
              HasSubstr("not of voices"));
  make_sung_items(voices.path(), {.seconds = 1, .count = 1, .items_per_shard = 1});
  EXPECT_THAT(hum::testing::message_of([&] { StemFolder{voices.path()}; }),
              HasSubstr("other items than stems"));
}

// Two versions of a font's package have the same name and other samples.
TEST(StemShards, AnotherFileOfAFontIsRefused) {
  const ScratchFolder folder;
  MakeStemsOptions options = small_shards();
  options.count = 1;
  make_stems(folder.path(), options, testing::small_bands());
  const auto refusal = [&](const std::function<void(Json&)>& change) {
    Json manifest = read_json(folder / "shards.json");
    change(manifest.at("options").at("stems"));
    const ScratchFolder changed;
    write_json(changed / "shards.json", manifest);
    return hum::testing::message_of(
        [&] { make_stems(changed.path(), options, testing::small_bands()); });
  };
  const auto path = installed_path(find_sound_font("timgm6mb"));
  EXPECT_EQ(read_manifest(folder.path()).options.at("stems").at("pinned_fonts"),
            Json({{"timgm6mb",
                   {{"bytes", std::filesystem::file_size(path)}, {"sha256", sha256_file(path)}}}}));
  EXPECT_THAT(refusal([](Json& stems) { stems["pinned_fonts"]["timgm6mb"]["sha256"] = "0"; }),
              HasSubstr("other options"));
  EXPECT_THAT(refusal([](Json& stems) { stems["pinned_fonts"]["timgm6mb"]["bytes"] = 1; }),
              HasSubstr("other options"));
  EXPECT_THAT(refusal([](Json& stems) { stems["version"] = kStemsVersion - 1; }),
              HasSubstr("other options"));
}

TEST(StemShards, OfALaterVersionAreNotRead) {
  const ScratchFolder folder;
  MakeStemsOptions options = small_shards();
  options.count = 1;
  make_stems(folder.path(), options, testing::small_bands());
  Json manifest = read_json(folder / "shards.json");
  manifest["options"]["stems"].erase("version");
  write_json(folder / "shards.json", manifest);
  EXPECT_EQ(StemFolder(folder.path()).size(), 1) << "version 2 does not state it";
  manifest["options"]["stems"]["version"] = kStemsVersion + 1;
  write_json(folder / "shards.json", manifest);
  EXPECT_THAT(hum::testing::message_of([&] { StemFolder{folder.path()}; }),
              HasSubstr(fmt::format("stems of version {}", kStemsVersion + 1)));
}

TEST(StemShards, ADamagedManifestIsRefused) {
  const ScratchFolder folder;
  MakeStemsOptions options = small_shards();
  options.count = 1;
  make_stems(folder.path(), options, testing::small_bands());
  const Json manifest = read_json(folder / "shards.json");
  for (const Json& stems : {Json(7), Json::object(), Json{{"seconds", "long"}}}) {
    Json damaged = manifest;
    damaged["options"]["stems"] = stems;
    write_json(folder / "shards.json", damaged);
    EXPECT_EQ(hum::testing::code_of([&] { StemFolder{folder.path()}; }), ExitCode::kBadData)
        << to_text(stems);
  }
}

TEST(StemShards, AMissingFontLeavesNothingBehind) {
  const ScratchFolder scratch;
  MakeStemsOptions options = small_shards();
  options.material.sound_fonts = {"nosuch"};
  EXPECT_THROW(make_stems(scratch.path() / "stems", options, testing::small_bands()), Error);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "stems"));
}

// A window of each source. Needs what `make fetch` fetches.
TEST(StemShards, AreMadeOfEveryKindOfSource) {
  constexpr const char* kFiles[] = {"openttd-openmsx", "planetblupi-music-midi"};
  for (const char* name : {kFiles[0], kFiles[1], "mma"}) {
    if (!fetched_package(name)) GTEST_SKIP() << name << " is not there: make fetch";
  }
  struct Source {
    std::string package;
    std::vector<std::string> files;
    double mma = 0, own = 0;
  };
  const Source sources[] = {{.package = kFiles[0], .files = {kFiles[0]}},
                            {.package = kFiles[1], .files = {kFiles[1]}},
                            {.package = "mma", .mma = 1},
                            {.package = "hum", .own = 1}};
  for (const Source& source : sources) {
    const ScratchFolder folder;
    MakeStemsOptions options = small_shards();
    options.count = 1;
    options.material.packages = source.files;
    options.material.mma_share = source.mma;
    options.material.own_share = source.own;
    ASSERT_TRUE(make_stems(folder.path(), options, testing::small_bands()));
    const StemFolder stems(folder.path());
    ASSERT_EQ(stems.size(), 1);
    EXPECT_EQ(stems[0].meta().at("package"), source.package);
    EXPECT_LT(stems[0].meta().at("silent").size(), kStemCount) << source.package;
  }
}

}  // namespace
}  // namespace hum::data
