// hum evaluate stems on folders of ruled sounds.
#include "app/evaluation/stem_report.h"

#include <gmock/gmock.h>

#include "app/evaluation/stem_songs.h"
#include "audio/io.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "base/testing/rule.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr size_t kFrames = 12000;

class Stems : public ::testing::Test {
 protected:
  void write(const std::string& file, const audio::AudioBuffer& sound) const {
    create_folder(fs::path(folder_ / file).parent_path());
    audio::write_audio(folder_ / file, sound, audio::SampleFormat::kFloat);
  }
  static audio::AudioBuffer sound(const std::string& name, double level = 0.2,
                                  size_t frames = kFrames) {
    return {8000, 1, hum::testing::ruled(name, frames, -level, level)};
  }
  void write_song(const std::string& song) const {
    for (const char* stem : {"drums", "bass"}) {
      const auto truth = sound(song + stem);
      auto heard = truth;
      const auto noise = sound(song + stem + " noise", 0.02);
      for (size_t i = 0; i < kFrames; ++i) heard.samples[i] += noise.samples[i];
      write(fmt::format("true/{}/{}.wav", song, stem), truth);
      write(fmt::format("heard/{}/{}.wav", song, stem), heard);
    }
  }
  StemReportOptions options() const { return {folder_ / "heard", folder_ / "true", "", true}; }
  std::string refusal() const {
    return hum::testing::message_of([&] { stem_report(options()); });
  }

  ScratchFolder folder_;
};

TEST_F(Stems, AreJudgedSongBySong) {
  for (const char* song : {"one", "two", "three"}) write_song(song);
  const Json report = stem_report(options());
  for (const char* stem : {"bass", "drums"}) {
    const Json& sdr = report["stems"][stem]["estimates"]["sdr"];
    EXPECT_NEAR(sdr["value"], 20, 0.2);
    EXPECT_LE(sdr["low"], sdr["value"]);
    EXPECT_EQ(sdr["songs"], 3);
    EXPECT_EQ(report["stems"][stem]["silence"]["sdr"]["value"], 0);
    EXPECT_NEAR(report["stems"][stem]["estimates"]["sar"]["value"], 20, 1);
    EXPECT_GT(report["above_best_gain"][stem]["low"], 10);
  }
  const Json& target = report["songs"]["two"]["targets"][0];
  EXPECT_EQ(target["name"], "bass");
  ASSERT_EQ(target["frames"].size(), 1U);
  EXPECT_EQ(target["frames"][0]["time"], 0);
  EXPECT_EQ(target["frames"][0]["duration"], 1);
  EXPECT_NEAR(target["frames"][0]["metrics"]["SDR"], 20, 0.5);
  const std::string text = stem_text(report);
  EXPECT_THAT(text, HasSubstr("3 songs, in dB"));
  EXPECT_THAT(text, ::testing::ContainsRegex("drums +(19|20)\\.[0-9]+"));
  EXPECT_THAT(text, HasSubstr("MWF"));
}

TEST_F(Stems, OfOneSongMayLieInTheFoldersThemselves) {
  for (const char* side : {"true", "heard"}) {
    write(fmt::format("{}/lead.wav", side), sound("lead"));
    write(fmt::format("{}/mixture.wav", side), sound("mixture"));
  }
  auto without_bss = options();
  without_bss.bss = false;
  const Json report = stem_report(without_bss);
  EXPECT_EQ(report["about"]["songs"], 1);
  EXPECT_EQ(report["stems"].size(), 1U);
  EXPECT_EQ(report["stems"]["lead"]["estimates"]["sdr"]["value"], 120);
  EXPECT_TRUE(report["stems"]["lead"]["estimates"]["sdr"]["low"].is_null());
  EXPECT_TRUE(report["stems"]["lead"]["estimates"]["sar"]["value"].is_null());
  // The mixture is the file's, not the sum of the one stem.
  EXPECT_LT(report["stems"]["lead"]["mixture"]["sdr"]["value"], 0);
  EXPECT_TRUE(report["songs"].contains("true"));
}

TEST_F(Stems, AreOnAPageWithTheirSounds) {
  write_song("one");
  auto with_page = options();
  with_page.output = folder_ / "report";
  const Json report = stem_report(with_page);
  const std::string page = read_file(folder_ / "report/index.html");
  for (const char* words : {"Separated stems", "one: drums", "true stem", "Floors and ceilings"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
  for (const Json& example : report["examples"]) {
    for (const Json& sound : example["sounds"]) {
      EXPECT_TRUE(fs::exists(folder_ / ("report/" + sound["sound"].get<std::string>())));
      EXPECT_TRUE(fs::exists(folder_ / ("report/" + sound["picture"].get<std::string>())));
    }
  }
  EXPECT_EQ(report["examples"].size(), 2U);
  EXPECT_TRUE(fs::exists(folder_ / "report/page/player.js"));
  EXPECT_EQ(read_json(folder_ / "report/test/one.json"),
            (Json{{"targets", report["songs"]["one"]["targets"]}}));
  EXPECT_EQ(read_json(folder_ / "report/report.json")["stems"], report["stems"]);
}

TEST_F(Stems, ThatDoNotFitAreRefusedByName) {
  EXPECT_THAT(refusal(), HasSubstr("true: no such"));
  create_folder(folder_ / "true");
  EXPECT_THAT(refusal(), HasSubstr("true: has no stems"));
  write_song("one");
  write("heard/two/drums.wav", sound("x"));
  EXPECT_THAT(refusal(), HasSubstr("true has no song 'two'"));
  fs::rename(folder_ / "heard/two", folder_ / "true/two");
  EXPECT_THAT(refusal(), HasSubstr("heard: has no song 'two'"));
  fs::remove_all(folder_ / "true/two");
  write("heard/one/vocals.wav", sound("x"));
  EXPECT_THAT(refusal(), HasSubstr("true/one has no stem 'vocals'"));
  fs::rename(folder_ / "heard/one/vocals.wav", folder_ / "true/one/vocals.wav");
  EXPECT_THAT(refusal(), HasSubstr("heard/one: has no stem 'vocals'"));
  write("heard/one/vocals.wav", sound("x", 0.2, kFrames - 1));
  EXPECT_THAT(refusal(), HasSubstr("heard/one/vocals.wav: 11999 samples, but"));
  write("heard/one/vocals.wav", {8000, 2, sound("x").samples});
  EXPECT_THAT(refusal(), HasSubstr("heard/one/vocals.wav: 2 channels, but"));
  write("heard/one/vocals.wav", {16000, 1, sound("x").samples});
  EXPECT_THAT(refusal(), HasSubstr("heard/one/vocals.wav: 16000 Hz, but"));
  audio::write_audio(folder_ / "heard/one/vocals.flac", sound("x"));
  EXPECT_THAT(refusal(), HasSubstr("two files of one stem"));
}

}  // namespace
}  // namespace hum::app
