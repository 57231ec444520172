// hum evaluate model and codec, on small untrained weights: everything but good figures.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "audio/io.h"
#include "base/json.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class EvaluateModel : public Program {
 protected:
  EvaluateModel() {
    write_tiny_weights(folder_ / "weights");
    write_tiny_classifier(folder_ / "weights");
    write_tiny_references(folder_ / "weights");
  }
  std::vector<std::string> command(const std::vector<std::string>& flags = {
                                       "--clips", "2", "--resamples", "100"}) const {
    std::vector<std::string> arguments = {"evaluate",      "model", "--weights",
                                          path("weights"), "-o",    path("report")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }
};

// A minute of transcribing on two cores.
using SlowEvaluateModel = EvaluateModel;
TEST_F(SlowEvaluateModel, WritesAReportThatNeedsNothingElse) {
  const auto run = run_hum(command(
      {"--clips", "2", "--resamples", "100", "--json", "--against", "twin=" + path("weights")}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(files(), ElementsAre("report", "weights"));
  const Json report = parse_json(run.out);
  EXPECT_EQ(report, parse_json(read("report/report.json")));

  std::vector<std::string> rows;
  for (const Json& row : report["rows"]) rows.push_back(row["name"]);
  EXPECT_THAT(
      rows, ElementsAre("hum", "hum, true notes", "hum --lm", "hum --lm, true notes",
                        "plain decoder, true notes", "hum, by name", "twin", "twin, true notes",
                        "true rendering", "true rendering, heard notes", "hum, own reference",
                        "guided decoder on true tokens", "codec on the true rendering", "hum copy",
                        "sine", "excitation alone", "copy of the reference", "wrong melody",
                        "retrieval", "sampler"));
  // The same weights on the same clips differ by nothing.
  const Json& twin = report["rows"][6];
  EXPECT_EQ(twin["differences"]["all"]["mel_distance"]["value"], 0);
  EXPECT_EQ(report["rows"][7]["against"], "hum, true notes");
  const Json& told = report["rows"][3]["groups"]["all"];
  EXPECT_TRUE(told["token_top10"].is_object());
  EXPECT_GT(told["real_time_factor"]["value"], 0);
  EXPECT_EQ(report["codebooks"].size(), 4u * 2);
  EXPECT_GT(report["codebooks"][0]["entropy_bits"], 0);
  EXPECT_GT(report["codebooks"][0]["used"], 0);
  EXPECT_EQ(report["real_singing"].size(), 8u * 7);
  EXPECT_EQ(report["about"]["weights sha256"].size(), 6u);
  // Of the two clips, the classifier knows the seen preset alone.
  EXPECT_EQ(told["preset_top3"], parse_json(R"({"value":1.0,"low":null,"high":null,"clips":1})"));
  EXPECT_GT(report["rows"][1]["fad"]["value"], 0);
  EXPECT_NEAR(report["rows"][8]["fad"]["value"].get<double>(), 0, 1e-6);
  for (const size_t row : {17, 18, 19}) {
    for (const char* metric : {"timbre", "timbre_60", "nearest_3"}) {
      EXPECT_TRUE(report["rows"][row]["groups"]["unseen preset"][metric].is_object()) << metric;
      EXPECT_TRUE(report["rows"][row]["differences"]["seen"][metric].is_object()) << metric;
    }
  }

  const std::string page = read("report/index.html");
  for (const char* text : {"http://", "https://"}) EXPECT_THAT(page, Not(HasSubstr(text)));
  size_t sounds = 0;
  for (const Json& example : report["examples"]) {
    for (const Json& sound : example["sounds"]) {
      const auto file = sound["sound"].get<std::string>();
      EXPECT_THAT(page, HasSubstr(file));
      EXPECT_GT(audio::read_audio(folder_ / "report" / file).seconds(), 4);
      EXPECT_THAT(read("report/" + sound["picture"].get<std::string>()),
                  testing::StartsWith("\x89PNG"));
      ++sounds;
    }
  }
  EXPECT_EQ(sounds, 2u * (20 + 2) + 8);  // with two anchors per clip
  const std::string test = read("report/listening-test.js");
  EXPECT_THAT(test, HasSubstr(report["listening_test"]["id"].get<std::string>()));
  for (const char* name : {"hidden reference", "anchor 7 kHz", "true rendering, heard notes"})
    EXPECT_THAT(test, HasSubstr(name));
  EXPECT_THAT(read("report/listening.html"), HasSubstr("listening-test.js"));
}

TEST_F(EvaluateModel, StoppedWithControlCWritesNoReport) {
  const auto run = run_hum(command({"--clips", "50"}), {.interrupt_after_ms = 3000});
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_THAT(files(), Not(testing::Contains("report")));
}

// Times are measured, all else must be equal to the digit.
Json without_times(Json report) {
  for (Json& row : report["rows"]) {
    for (const char* figures : {"groups", "differences"}) {
      if (!row.contains(figures)) continue;
      for (Json& group : row[figures]) group.erase("real_time_factor");
    }
  }
  return report;
}

TEST_F(SlowEvaluateModel, ResumesAfterAKillWithTheSameFigures) {
  const std::vector<std::string> flags = {"--clips",      "3",
                                          "--resamples",  "100",
                                          "--singing",    write_hum("sung.wav", 3),
                                          "--references", path("sung.wav"),
                                          "--json"};
  const auto whole = run_hum(command(flags));
  ASSERT_EQ(whole.code, 0) << whole.err;
  std::filesystem::remove_all(folder_ / "report");

  const auto log = folder_ / ".report.unfinished/clips.jsonl";
  const auto killed = run_hum(command(flags), {.kill_when = [&] {
                                std::ifstream text(log);
                                return std::count(std::istreambuf_iterator<char>(text), {}, '\n') >=
                                       2;  // settings, a clip
                              }});
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_THAT(files(), ElementsAre(".report.unfinished", "sung.wav", "weights"));
  std::ofstream(log, std::ios::app) << R"({"results":[{"figures":[0.)";

  const auto resumed = run_hum(command(flags));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumes after "));
  const Json report = parse_json(resumed.out);
  EXPECT_TRUE(without_times(report) == without_times(parse_json(whole.out)));
  EXPECT_THAT(files(), ElementsAre("report", "sung.wav", "weights"));
  EXPECT_EQ(report["real_references"][0]["reference"], "sung.wav");
  EXPECT_EQ(report["real_references"][0]["rank"], 1);
  for (const Json& example : report["examples"]) {
    for (const Json& sound : example["sounds"]) {
      EXPECT_TRUE(std::filesystem::exists(folder_ / "report" / sound["sound"].get<std::string>()));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report/clips.jsonl"));
}

TEST_F(EvaluateModel, RefusesWhatItCannotDo) {
  const auto refused = [&](const std::vector<std::string>& flags, int code, const char* text) {
    const auto run = run_hum(command(flags));
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err, testing::AllOf(HasSubstr(text), HasSubstr("hint: ")));
    EXPECT_THAT(files(), Not(testing::Contains("report")));
  };
  refused({"--clips", "0"}, 2, "--clips 0 is out of range");
  refused({"--resamples", "5"}, 2, "--resamples 5 is out of range");
  refused({"--resamples", "1000000000"}, 2, "--resamples takes 100 to 100000");
  refused({"--against", "nothing"}, 2, "no name and folder");
  refused({"--against", "plain=" + path("none")}, 66, "none: no such folder");
  refused({"--against", "hum=" + path("weights")}, 2, "'hum' is already used");
  refused({"--singing", path("none.wav")}, 66, "no such file");
  refused({"--singing", path("weights")}, 66, "weights: holds no recordings");
  refused({"--references", path("weights")}, 66, "weights: holds no recordings");
  refused({"--listen", "piano roll"}, 2, "--listen: no row 'piano roll'");
  refused({"--listen", "hum", "--listen", "hum"}, 2,
          "--listen: no row 'hum', or it is named twice");
  EXPECT_EQ(run_hum({"evaluate", "model", "--weights", path("none"), "-o", path("report")}).code,
            66);
  std::filesystem::remove_all(folder_ / "weights/references");
  refused({}, 66, "hold no references");
  write_tiny_references(folder_ / "weights");
  write("report", "a file of mine");
  EXPECT_EQ(run_hum(command()).code, 73);
  EXPECT_EQ(read("report"), "a file of mine");
}

TEST_F(EvaluateModel, OfTheCodecSaysHowFarItsLatentsMove) {
  const auto made = run_hum({"data", "make", "-o", path("data"), "--count", "2"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto evaluate = [&](const std::string& data, const std::string& items) {
    return run_hum({"evaluate", "codec", "--weights", path("weights"), "--data", path(data),
                    "--items", items, "--json"});
  };
  const auto run = evaluate("data", "2");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json report = parse_json(run.out);
  EXPECT_EQ(report.at("movement").size(), 2U);
  EXPECT_GT(report.at("movement")[0].at("polarity"), 0);
  expect_error(evaluate("data", "3"), 2, "--items 3 is out of range", "has 2 items");
  EXPECT_EQ(evaluate("none", "1").code, 66);
}

}  // namespace
}  // namespace hum::e2e
