// A report's folder, page, plots and pictures.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>

#include "audio/io.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "eval/report/examples.h"
#include "eval/report/folder.h"
#include "eval/report/page.h"
#include "eval/report/plots.h"

namespace hum::eval {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Folder : public ::testing::Test {
 protected:
  Folder() : root_(fs::temp_directory_path() / fmt::format("hum-report-test-{}", ::getpid())) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Folder() override { fs::remove_all(root_); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(root_), {}));
  }
  fs::path root_;
};

TEST_F(Folder, IsThereWhenItIsWhole) {
  ReportFolder folder(root_ / "report");
  folder.write("report.json", "{}");
  auto loud = audio::tone(440, 1, 22050, 2);
  folder.write_sound("sounds/a.flac", loud);
  EXPECT_FALSE(fs::exists(root_ / "report"));
  folder.commit();
  const auto sound = audio::read_audio(root_ / "report/sounds/a.flac");
  EXPECT_EQ(sound.rate_hz, 22050);
  EXPECT_NEAR(*std::ranges::max_element(sound.samples), 1, 1e-3);
  EXPECT_EQ(audio::clipped_fraction(sound) > 0.2, false);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Folder, LeavesNothingWhenItIsGivenUp) {
  { ReportFolder(root_ / "report").write("report.json", "{}"); }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Folder, ReplacesAReportAndNothingElse) {
  for (const char* text : {"{}", "[]"}) {
    ReportFolder folder(root_ / "report");
    folder.write("report.json", text);
    folder.commit();
  }
  EXPECT_EQ(read_file(root_ / "report/report.json"), "[]");
  fs::create_directories(root_ / "thesis");
  write_file(root_ / "thesis/chapter.txt", "years of work");
  EXPECT_THROW(ReportFolder{root_ / "thesis"}, Error);
  EXPECT_THROW(ReportFolder{root_ / "thesis/chapter.txt"}, Error);
}

TEST(Plots, DrawValuesIntervalsAndZero) {
  const PlotBar bars[] = {{"ours", "system", 0.5, 0.4, 0.6},
                          {"a < b", "floor", -0.25, NAN, NAN},
                          {"absent", "floor", NAN, NAN, NAN}};
  const std::string svg = bar_plot("F1", "share", bars);
  EXPECT_THAT(svg, HasSubstr("F1, share"));
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("absent"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  // From -0.25 to 0.6 on 330 points: zero at 97 right of the labels, the bars 194 and 97 long.
  EXPECT_THAT(svg, HasSubstr(R"(<rect x="158.1" y="30.0" width="194.1")"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect x="61.0" y="52.0" width="97.1")"));
  EXPECT_EQ(std::string(svg).find("#222\" fill=\"none\""), svg.rfind("#222\" fill=\"none\""));
}

TEST_F(Folder, KeepsExamplesOfTheFirstClipsOfEachSplit) {
  const ReportFolder folder(root_ / "report");
  const auto& flute = data::find_preset("flute");
  const std::vector<TestClipPlan> plans(4, {.preset = &flute});
  Examples examples(folder, plans);
  const TestClip clip{.plan = plans[0], .notes = {{0.5, 1.5, 69, 0.8, {}}}};
  const auto sound = audio::tone(440, 2, 22050);
  for (size_t i = 0; i < plans.size(); ++i) {
    for (const char* system : {"hum", "sine"}) examples.keep(i, clip, system, sound);
  }
  const Json kept = examples.json();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1]["title"], "clip 1: seen, flute, ionian");
  EXPECT_EQ(kept[1]["sounds"][1]["system"], "sine");
  EXPECT_EQ(kept[1]["sounds"][1]["sound"], "sounds/clip-1-1.flac");
  fs::path aside;
  for (const auto& entry : fs::directory_iterator(root_)) aside = entry.path();
  EXPECT_NEAR(audio::read_audio(aside / "sounds/clip-1-1.flac").seconds(), 2, 1e-6);
  EXPECT_THAT(read_file(aside / "pictures/clip-0-0.png"), ::testing::StartsWith("\x89PNG"));
}

Json small_report() {
  const Json figure = {{"value", 0.5}, {"low", 0.4}, {"high", 0.6}, {"clips", 3}};
  Json report = {{"title", "hum <test>"}, {"about", {{"seed", 7}}}, {"groups", {{"all", 3}}}};
  for (const char* key : {"chroma", "note_f1", "raw_pitch", "timbre", "preset_top1", "mel_distance",
                          "si_sdr", "real_time_factor"}) {
    report["metrics"].push_back(
        {{"key", key}, {"name", key}, {"unit", ""}, {"better", "higher"}, {"what", "a figure"}});
  }
  report["rows"] =
      Json::array({{{"name", "hum"}, {"role", "system"}, {"what", ""}, {"fad", nullptr}},
                   {{"name", "sine"}, {"role", "floor"}, {"what", ""}, {"fad", nullptr}}});
  report["rows"][0]["groups"]["all"] = {{"chroma", figure}, {"timbre", nullptr}};
  report["rows"][1]["groups"]["all"] = {{"chroma", figure}};
  report["rows"][1]["differences"]["all"] = {{"chroma", figure}};
  report["examples"] = Json::array(
      {{{"title", "seen, flute"},
        {"sounds",
         Json::array({{{"system", "hum"}, {"sound", "a.flac"}, {"picture", "a.svg"}}})}}});
  report["not_measured"] = Json::array({{{"what", "a row"}, {"why", "no weights"}}});
  return report;
}

TEST(Page, ShowsWhatIsThereAndAsksNoNetwork) {
  const std::string page = report_page(small_report());
  for (const char* text :
       {"hum &lt;test&gt;", "0.4 to 0.6", "<svg", "<audio controls", "a.flac", "src=\"a.svg\"",
        "<td title=\"3 clips\">0.5<", "no weights", "tr class=floor", "Differences between rows"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  for (const char* text : {"http://", "https://", "<script", "nan", "Real singing", "Codebooks"}) {
    EXPECT_THAT(page, Not(HasSubstr(text)));
  }
}

}  // namespace
}  // namespace hum::eval
