// A report's folder, page, plots and pictures.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <numeric>

#include "audio/io.h"
#include "audio/loudness.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "eval/report/examples.h"
#include "eval/report/folder.h"
#include "eval/report/page.h"
#include "eval/report/plots.h"
#include "eval/report/site.h"

namespace hum::eval {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

fs::path only_folder_in(const fs::path& root) { return fs::directory_iterator(root)->path(); }

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
  auto loud = audio::tone(1000, 1, 22050, 2);
  const SoundLevel level = folder.write_sound("sounds/a", loud);
  EXPECT_NEAR(level.true_peak_dbtp, 0, 0.1);
  EXPECT_NEAR(level.lufs, -3, 0.2);  // EBU Tech 3341: a sine in one channel has its peak less 3 dB
  EXPECT_FALSE(fs::exists(root_ / "report"));
  folder.commit();
  const auto sound = audio::read_audio(root_ / "report/sounds/a.flac");
  EXPECT_EQ(sound.rate_hz, 22050);
  EXPECT_NEAR(*std::ranges::max_element(sound.samples), 1, 1e-3);
  EXPECT_EQ(audio::clipped_fraction(sound) > 0.2, false);
  EXPECT_EQ(entries(), 1u);
}

// A page may run the script, which holds the bytes of the sound.
TEST_F(Folder, KeepsEachSoundAsAScriptToo) {
  ReportFolder folder(root_ / "report");
  folder.write("report.json", "{}");
  folder.write_sound("sounds/a", audio::tone(440, 1, 22050));
  folder.commit();
  EXPECT_EQ(read_file(root_ / "report/sounds/a.js"),
            fmt::format("humSound('sounds/a.flac', '{}');\n",
                        base64(read_file(root_ / "report/sounds/a.flac"))));
}

TEST_F(Folder, HasThePagesAndWhatTheyNeed) {
  ReportFolder folder(root_ / "report");
  folder.write("report.json", "{}");
  folder.write_site({{"id", "0123"}});
  folder.commit();
  EXPECT_EQ(read_file(root_ / "report/page/player.js"), page_file("player.js"));
  const std::string form = read_file(root_ / "report/listening.html");
  for (const char* file :
       {"page/report.css", "page/player.css", "page/sounds.js", "page/listening.js"}) {
    EXPECT_THAT(form, HasSubstr(file));
    EXPECT_TRUE(fs::exists(root_ / "report" / file)) << file;
  }
  EXPECT_EQ(read_file(root_ / "report/listening-test.js"),
            "const humListeningTest = {\n \"id\": \"0123\"\n};\n");
}

TEST_F(Folder, LeavesNothingWhenItIsGivenUp) {
  { ReportFolder(root_ / "report").write("report.json", "{}"); }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Folder, IsContinuedWithTheResultsOfItsClips) {
  {
    const ReportFolder folder(root_ / "report");
    folder.write("sounds/a.js", "a");
    folder.write("sounds/.b.tmp-1-1.js", "half");
    folder.write(kClipsFile, "{}\n");
  }
  ReportFolder folder(root_ / "report");
  EXPECT_EQ(read_file(folder.clips_file()), "{}\n");
  folder.write("report.json", "{}");
  folder.commit();
  EXPECT_EQ(read_file(root_ / "report/sounds/a.js"), "a");
  EXPECT_FALSE(fs::exists(root_ / "report/sounds/.b.tmp-1-1.js"));
  EXPECT_FALSE(fs::exists(root_ / "report" / kClipsFile));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Folder, BegunAnewHoldsNothing) {
  const ReportFolder folder(root_ / "report");
  folder.write("sounds/a.js", "a");
  folder.write(kClipsFile, "{}\n");
  folder.begin_anew();
  EXPECT_TRUE(fs::is_empty(only_folder_in(root_)));
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

TEST_F(Folder, KeepsExamplesOfTheFirstClips) {
  const ReportFolder folder(root_ / "report");
  Examples examples(folder);
  const TestClip clip{.plan = {.preset = &data::find_preset("flute")},
                      .notes = {{0.5, 1.5, 69, 0.8, {}}}};
  const auto sound = audio::tone(440, 2, 22050);
  for (size_t i = 0; i < kExampleClips + 2; ++i) {
    for (const char* system : {"hum", "sine"}) examples.keep(i, clip, system, sound);
  }
  const Json kept = examples.json();
  ASSERT_EQ(kept.size(), kExampleClips);
  EXPECT_EQ(kept[1]["title"], "clip 1: seen, flute, ionian");
  EXPECT_EQ(kept[1]["sounds"][1]["system"], "sine");
  EXPECT_EQ(kept[1]["sounds"][1]["sound"], "sounds/clip-1-1.flac");
  const fs::path aside = only_folder_in(root_);
  EXPECT_NEAR(audio::read_audio(aside / "sounds/clip-1-1.flac").seconds(), 2, 1e-6);
  EXPECT_THAT(read_file(aside / "pictures/clip-0-0.png"), ::testing::StartsWith("\x89PNG"));
}

TEST_F(Folder, KeepsTheAnchorsBesideTheTrueRendering) {
  const ReportFolder folder(root_ / "report");
  Examples examples(folder);
  const TestClip clip{.plan = {.preset = &data::find_preset("flute")},
                      .notes = {{0.5, 1.5, 69, 0.8, {}}}};
  auto sound = audio::tone(440, 1, 22050, 0.3);
  const auto hiss = audio::tone(5000, 1, 22050, 0.3);
  for (size_t i = 0; i < sound.size(); ++i) sound[i] += hiss[i];
  examples.keep(0, clip, "true rendering", sound);
  const Json& sounds = examples.json()[0]["sounds"];
  ASSERT_EQ(sounds.size(), 3U);
  EXPECT_EQ(sounds[1]["system"], "anchor 3.5 kHz");
  EXPECT_EQ(sounds[2]["system"], "anchor 7 kHz");
  // Half of the power is at 5 kHz: the low anchor lacks it.
  const auto power = [&](size_t i) {
    const auto file = only_folder_in(root_) / sounds[i]["sound"].get<std::string>();
    const auto samples = audio::read_audio(file).samples;
    return std::inner_product(samples.begin(), samples.end(), samples.begin(), 0.0);
  };
  EXPECT_NEAR(power(1) / power(0), 0.5, 0.01);
  EXPECT_NEAR(power(2) / power(0), 1, 0.01);
}

TEST_F(Folder, ExamplesOfAClipShareALevelThatNoneExceeds) {
  const ReportFolder folder(root_ / "report");
  Examples examples(folder);
  const auto add = [&](const char* system, const std::vector<float>& samples) {
    examples.add("clip", system, system, samples, {});
  };
  add("loud", audio::tone(1000, 2, 22050, 0.5));
  add("silent", std::vector<float>(44100));
  const Json& example = examples.json()[0];
  EXPECT_EQ(example["level_lufs"], -23);
  EXPECT_NEAR(example["sounds"][0]["lufs"].get<double>(), -9, 0.2);
  EXPECT_TRUE(example["sounds"][1]["lufs"].is_null());
  // Clicks: quiet for their peak.
  std::vector<float> clicks(44100);
  for (size_t i = 0; i < clicks.size(); i += 4410) clicks[i] = 0.9F;
  add("clicks", clicks);
  const double level_lufs = example["level_lufs"], lufs = example["sounds"][2]["lufs"];
  EXPECT_LT(level_lufs, -23);
  const double peak_dbtp = audio::true_peak_dbtp(clicks, 22050);
  EXPECT_NEAR(peak_dbtp + level_lufs - lufs, -1, 1e-6);
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
  report["examples"] = parse_json(
      R"([{"title": "seen, flute & drum", "level_lufs": -23, "sounds": [
           {"system": "hum", "sound": "a.flac", "picture": "a.svg", "lufs": -20},
           {"system": "sine", "sound": "b.flac", "picture": "b.svg", "lufs": null}]}])");
  report["not_measured"] = Json::array({{{"what", "a row"}, {"why", "no weights"}}});
  return report;
}

TEST(Page, ShowsWhatIsThereAndAsksNoNetwork) {
  const std::string page = report_page(small_report());
  for (const char* text :
       {"hum &lt;test&gt;", "0.4 to 0.6", "<svg", "a.flac", "src=\"a.svg\"",
        "<td title=\"3 clips\">0.5<", "no weights", "tr class=floor", "Differences between rows"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  for (const char* text :
       {"http://", "https://", "nan", "Real singing", "Codebooks", "listening.html"}) {
    EXPECT_THAT(page, Not(HasSubstr(text)));
  }
}

TEST(Page, HasAPlayerForEachExample) {
  Json report = small_report();
  report["listening_test"] = {{"id", "0123"}};
  const std::string page = report_page(report);
  for (const char* text : {"seen, flute &amp; drum",
                           "data-sound=\"a.flac\" data-gain=\"-3.00\" data-picture=\"a.svg\" "
                           "checked",
                           "data-sound=\"b.flac\" data-gain=\"0.00\" data-picture=\"b.svg\">",
                           "<kbd aria-hidden=true>2</kbd>sine</label>",
                           "<a href=\"b.flac\">sine</a>", "href=\"listening.html\""}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  report["examples"] = Json::array();
  EXPECT_THAT(report_page(report), Not(HasSubstr("<script")));
}

// What a page names is in page/ or made by the report, and nothing is asked of the network.
TEST(Site, FilesAreAsciiAndAskNoNetwork) {
  for (const PageFile& file : page_files()) {
    EXPECT_THAT(std::string(file.bytes), Not(HasSubstr("//www."))) << file.path;
    EXPECT_THAT(std::string(file.bytes), Not(HasSubstr("http"))) << file.path;
    for (const char letter : file.bytes) {
      ASSERT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~')) << file.path;
    }
  }
}

}  // namespace
}  // namespace hum::eval
