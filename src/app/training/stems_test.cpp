// Material for separation as trainings read it: hum's own songs, and the input of stems.
#include <gmock/gmock.h>

#include <set>

#include "app/session_options.h"
#include "app/training/inputs.h"
#include "app/training/make_data.h"
#include "app/training/own_songs.h"
#include "app/training/testing.h"
#include "base/files.h"
#include "base/testing/refusal.h"
#include "data/shards/manifest.h"
#include "data/stems/render.h"
#include "data/stems/roles.h"
#include "models/separator/config.h"

namespace hum::app {
namespace {

using ::testing::HasSubstr;

TEST(OwnSongs, AreBandsWithALead) {
  for (uint64_t index = 0; index < 6; ++index) {
    const auto song = compose_song(data::Split::kTraining, 1, index);
    std::set<data::Stem> stems;
    for (const auto& roles : data::roles_of(song)) {
      for (const auto& span : roles) stems.insert(span.stem);
    }
    EXPECT_TRUE(stems.contains(data::Stem::kDrums)) << index;
    EXPECT_TRUE(stems.contains(data::Stem::kBass)) << index;
    EXPECT_TRUE(stems.contains(data::Stem::kLead)) << index;
    EXPECT_TRUE(stems.contains(data::Stem::kChordal)) << index;
    EXPECT_GT(audio::bar_lines(song).back(), 50);
    const auto again = compose_song(data::Split::kTraining, 1, index);
    EXPECT_EQ(again.parts[0].notes, song.parts[0].notes);
    EXPECT_NE(compose_song(data::Split::kHeldOut, 1, index).parts[0].notes, song.parts[0].notes);
  }
}

TEST(StemInput, HasTheStemsInTheOrderOfTheSeparators) {
  for (size_t i = 0; i < data::kStemCount; ++i) {
    EXPECT_EQ(to_name(data::kStems[i]), models::separator::kStems[i]);
  }
}

// The part of a separator that chooses its data.
class NoModel : public models::AnyModel {
 public:
  Json config() const override { return Json::object(); }
  const nn::ParameterList& parameters() const override { return parameters_; }
  int64_t core_parameters() const override { return 0; }
  std::optional<models::LanguageModelShape> language_model() const override { return {}; }
  nn::TrainSpec train_spec(const nn::StepShape&) const override { return {}; }

 private:
  nn::ParameterList parameters_;
};

TEST(StemInput, MakesTheArraysThatASeparatorNames) {
  const ScratchFolder folder;
  testing::make_few_stems(folder.path(), 4);
  constexpr int64_t kSamples = 30000;
  const models::ModelRow row{.name = "none",
                             .folder = "none",
                             .summary = "",
                             .input = models::TrainingInput::kStems,
                             .audit = models::PlatformAudit::kNone};
  ModelConfiguration configuration{.path = "none.yaml", .row = &row};
  configuration.stage.data = folder.path();
  configuration.stage.batch = 2;
  configuration.stage.held_out = 2;
  const nn::TrainSpec spec{.name = "none",
                           .batch = {{"mixture", {graph::DType::kF32, {2, 2, kSamples}}},
                                     {"stems", {graph::DType::kF32, {2, 6, 2, kSamples}}}}};
  runtime::Session session(session_options());
  const NoModel model;
  const OpenedInput input = open_input({session, configuration, model, spec});
  const auto batch = input.batches(3);
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[0].shape(), spec.batch[0].shape);
  EXPECT_EQ(batch[1].shape(), spec.batch[1].shape);
  EXPECT_EQ(batch[0], input.batches(3)[0]);
  EXPECT_EQ(input.held_out.count, 1);
  EXPECT_EQ(input.held_out.batches(0)[0].shape(), spec.batch[0].shape);
}

// A model that has heard a song separates its other windows better.
TEST(StemInput, HoldsOutWholeSongs) {
  const ScratchFolder folder;
  data::MakeStemsOptions options{.count = 4, .windows_per_shard = 4, .threads = 1};
  options.material = {.seconds = 1,
                      .packages = {},
                      .mma_share = 0,
                      .own_share = 1,
                      .sound_fonts = {"timgm6mb"},
                      .drum_fonts = {}};
  data::make_stems(folder.path(), options, [](data::Split split, uint64_t seed, uint64_t) {
    return compose_song(split, seed, 1);
  });
  const models::ModelRow row{.name = "none",
                             .folder = "none",
                             .summary = "",
                             .input = models::TrainingInput::kStems,
                             .audit = models::PlatformAudit::kNone};
  ModelConfiguration configuration{.path = "none.yaml", .row = &row};
  configuration.stage.data = folder.path();
  configuration.stage.batch = 2;
  configuration.stage.held_out = 1;
  runtime::Session session(session_options());
  const NoModel model;
  const nn::TrainSpec spec{.name = "none", .batch = {}};
  EXPECT_THAT(hum::testing::message_of([&] {
                open_input({session, configuration, model, spec});
              }),
              HasSubstr("with 4 held out"));
}

TEST(MakeStems, ReadsItsConfigurationAndNamesWhatIsWrong) {
  const ScratchFolder scratch;
  write_file(scratch / "few.yaml",
             "stems:\n  seconds: 1\n  packages: []\n  mma_share: 0\n  own_share: 1\n"
             "  sound_fonts: [timgm6mb]\n  drum_fonts: []\n");
  write_file(scratch / "wrong.yaml", "stems:\n  second: 1\n");
  write_file(scratch / "other.yaml", "items:\n  seed: 1\n");
  const auto made = [&](const std::string& config, int64_t count) {
    return make_stems({.config = scratch / config, .output = scratch / "out", .count = count});
  };
  const auto message = [&](const std::string& config, int64_t count = 1) {
    return hum::testing::message_of([&] { made(config, count); });
  };
  EXPECT_THAT(message("wrong.yaml"), HasSubstr("unknown field 'second'"));
  EXPECT_THAT(message("other.yaml"), HasSubstr("unknown field 'items'"));
  EXPECT_THAT(message("few.yaml", -1), HasSubstr("--count must not be negative"));
  EXPECT_FALSE(is_folder(scratch / "out"));
  EXPECT_TRUE(made("few.yaml", 1).is_whole);
  EXPECT_EQ(data::read_manifest(scratch / "out").items(), 1);
}

}  // namespace
}  // namespace hum::app
