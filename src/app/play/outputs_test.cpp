#include "app/play/outputs.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Outputs : public testing::Test {
 protected:
  Outputs() : folder_(fs::temp_directory_path() / fmt::format("hum-outputs-{}", getpid())) {
    fs::create_directories(folder_ / "takes");
    for (const char* name : {"takes/b.wav", "takes/a.MP3", "takes/notes.txt", "one.wav"}) {
      std::ofstream(folder_ / name) << "x";
    }
  }
  ~Outputs() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  ExitCode code_of(const std::vector<std::string>& inputs, const OutputOptions& options) {
    try {
      plan_outputs(inputs, options, "flute");
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::kOk;
  }
  fs::path folder_;
};

TEST_F(Outputs, OfOneRecordingAreTheNamesThatAreGiven) {
  const auto planned = plan_outputs(
      {path("one.wav")},
      {.output = path("out.flac"), .midi = path("m.mid"), .picture = path("p.svg")}, "flute");
  const auto& plans = planned.plans;
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_THAT(plans[0].sounds, ElementsAre(path("out.flac")));
  EXPECT_EQ(plans[0].midi, path("m.mid"));
  EXPECT_THAT(plans[0].pictures, ElementsAre(path("p.svg")));
}

TEST_F(Outputs, OfSeveralTakesAreNumbered) {
  const auto planned =
      plan_outputs({path("one.wav")},
                   {.output = path("out.wav"), .picture = path("p.png"), .takes = 3}, "flute");
  const auto& plans = planned.plans;
  EXPECT_THAT(plans[0].sounds,
              ElementsAre(path("out-1.wav"), path("out-2.wav"), path("out-3.wav")));
  EXPECT_THAT(plans[0].pictures, ElementsAre(path("p-1.png"), path("p-2.png"), path("p-3.png")));
}

TEST_F(Outputs, OfAFolderAreNamedAfterRecordingAndInstrument) {
  const auto planned = plan_outputs(
      {path("takes"), path("one.wav")},
      {.output = path("made/out"), .midi = ".mid", .format = SoundFormat::kMp3}, "flute");
  const auto& plans = planned.plans;
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(plans[0].input, path("takes/a.MP3"));
  EXPECT_THAT(plans[0].sounds, ElementsAre(path("made/out/a-flute.mp3")));
  EXPECT_EQ(plans[1].midi, path("made/out/b-flute.mid"));
  EXPECT_THAT(plans[2].sounds, ElementsAre(path("made/out/one-flute.mp3")));
}

TEST_F(Outputs, OfOneRecordingMayGoToAFolder) {
  const auto planned = plan_outputs({path("one.wav")}, {.output = folder_.string()}, "flute");
  const auto& plans = planned.plans;
  EXPECT_THAT(plans[0].sounds, ElementsAre(path("one-flute.wav")));
}

TEST_F(Outputs, TakeNoInputsPlace) {
  const std::string one = path("one.wav");
  EXPECT_EQ(code_of({one}, {.output = path("takes/../one.wav")}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.wav"), .midi = path("m.mid")}), ExitCode::kOk);
  EXPECT_THROW(plan_outputs({one}, {.output = path("song.wav")}, "flute", {path("song.wav")}),
               Error);
  std::ofstream(folder_ / "one-flute.wav") << "x";
  EXPECT_EQ(code_of({one, path("one-flute.wav")}, {.output = folder_.string()}), ExitCode::kUsage);
}

TEST_F(Outputs, AreNotOfHiddenFiles) {
  std::ofstream(folder_ / "takes/._b.wav") << "x";
  EXPECT_EQ(plan_outputs({path("takes")}, {.output = path("out")}, "flute").plans.size(), 2U);
}

TEST_F(Outputs, ThatCannotBeAreRefused) {
  const std::string one = path("one.wav");
  EXPECT_EQ(code_of({one}, {}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.xyz")}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.wav"), .takes = 0}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.wav"), .picture = path("p.jpg")}),
            ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("none/out.wav")}), ExitCode::kCannotCreate);
  EXPECT_EQ(code_of({path("takes")}, {.output = path("out"), .midi = "m.mid"}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one, one}, {.output = path("out")}), ExitCode::kUsage);
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(code_of({path("empty")}, {.output = path("out")}), ExitCode::kNoInput);
  EXPECT_EQ(code_of({one, path("takes")}, {.output = path("one.wav")}), ExitCode::kUsage);
  EXPECT_EQ(code_of({path("takes")}, {.output = path("new.wav")}), ExitCode::kUsage);
  EXPECT_EQ(code_of({path("takes")}, {.output = path("one.wav/out")}), ExitCode::kCannotCreate);
}

TEST_F(Outputs, LeaveNoEmptyFolder) {
  EXPECT_EQ(code_of({path("takes")}, {.output = path("made/out"), .midi = "m.mid"}),
            ExitCode::kUsage);
  EXPECT_FALSE(fs::exists(folder_ / "made"));
  {
    const auto planned = plan_outputs({path("takes")}, {.output = path("made/out/")}, "flute");
    EXPECT_TRUE(fs::exists(folder_ / "made/out"));
    std::ofstream(planned.plans[0].sounds[0]) << "x";
  }
  EXPECT_TRUE(fs::exists(folder_ / "made/out/a-flute.wav"));
}

}  // namespace
}  // namespace hum::app
