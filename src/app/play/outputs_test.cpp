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

TEST_F(Outputs, OfOneStemKeepTheirExtensions) {
  std::ofstream(folder_ / "takes/b.mp3") << "x";
  const auto planned = plan_outputs({path("takes")}, {.output = path("out")}, "flute");
  const auto& plans = planned.plans;
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_THAT(plans[0].sounds, ElementsAre(path("out/a-flute.wav")));
  EXPECT_THAT(plans[1].sounds, ElementsAre(path("out/b-mp3-flute.wav")));
  EXPECT_THAT(plans[2].sounds, ElementsAre(path("out/b-wav-flute.wav")));
}

TEST_F(Outputs, OfLoopsOfLinksArePlannedSoThatReadingThemFails) {
  fs::create_symlink(path("takes/loop.wav"), path("takes/loop.wav"));
  fs::create_symlink(path("takes"), path("takes/again.wav"));
  const auto planned =
      plan_outputs({path("takes")}, {.output = path("out"), .recursive = true}, "flute");
  ASSERT_EQ(planned.plans.size(), 3U);
  EXPECT_EQ(planned.plans[2].input, path("takes/loop.wav"));
}

TEST_F(Outputs, OfSubfoldersAreInSubfoldersIfAskedFor) {
  fs::create_directories(folder_ / "top/one/two");
  for (const char* name : {"top/one/a.wav", "top/one/two/a.wav"}) {
    std::ofstream(folder_ / name) << "x";
  }
  try {
    plan_outputs({path("top")}, {.output = path("out")}, "flute");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
    EXPECT_THAT(error.hint(), testing::HasSubstr("--recursive"));
    EXPECT_THAT(error.hint(), testing::HasSubstr("one/a.wav"));
  }
  {
    const auto planned = plan_outputs(
        {path("top")}, {.output = path("out"), .midi = ".mid", .recursive = true}, "flute");
    ASSERT_EQ(planned.plans.size(), 2U);
    EXPECT_THAT(planned.plans[0].sounds, ElementsAre(path("out/one/a-flute.wav")));
    EXPECT_EQ(planned.plans[1].midi, path("out/one/two/a-flute.mid"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(Outputs, OnStdoutAreOneSound) {
  const std::string one = path("one.wav");
  EXPECT_EQ(code_of({one}, {.output = "-", .takes = 2}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one, path("takes")}, {.output = "-"}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.wav"), .midi = "-"}), ExitCode::kUsage);
  EXPECT_EQ(plan_outputs({"-"}, {.output = folder_.string()}, "flute").plans[0].sounds[0],
            path("stdin-flute.wav"));
}

TEST_F(Outputs, AreNotOfHiddenFiles) {
  std::ofstream(folder_ / "takes/._b.wav") << "x";
  EXPECT_EQ(plan_outputs({path("takes")}, {.output = path("out")}, "flute").plans.size(), 2U);
}

TEST_F(Outputs, ThatCannotBeAreRefused) {
  const std::string one = path("one.wav");
  EXPECT_EQ(code_of({one}, {}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.xyz")}), ExitCode::kUsage);
  EXPECT_EQ(code_of({one}, {.output = path("out.wav"), .format = SoundFormat::kFlac}),
            ExitCode::kUsage);
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
