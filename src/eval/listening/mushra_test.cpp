// The listening test: its trials, the answers of people, and their statistics.
#include "eval/listening/mushra.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "eval/listening/answers.h"
#include "eval/listening/listening_scores.h"

namespace hum::eval {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json sound(const std::string& system, const Json& lufs) {
  return {{"system", system}, {"sound", "sounds/" + system + ".flac"}, {"lufs", lufs}};
}

// A clip with a reference, and a recording without one.
Json examples() {
  Json clip = {{"title", "clip 0"}, {"level_lufs", -23.0}, {"sounds", Json::array()}};
  for (const char* system : {"hum", "sine", "true rendering", "anchor 3.5 kHz", "anchor 7 kHz"}) {
    clip["sounds"].push_back(sound(system, -20.0));
  }
  clip["sounds"][0]["lufs"] = -25.5;
  clip["sounds"][1]["lufs"] = nullptr;
  Json singing = {{"title", "real singing"}, {"level_lufs", -23.0}, {"sounds", Json::array()}};
  singing["sounds"].push_back(sound("violin", -20.0));
  return Json::array({clip, singing});
}

TEST(ListeningTest, HidesTheReferenceAndTheAnchorsAmongTheRows) {
  const std::vector<std::string> rows = {"hum", "sine"};
  const Json test = listening_test(examples(), rows);
  ASSERT_EQ(test["trials"].size(), 1U);  // the recording has no reference
  const Json& trial = test["trials"][0];
  EXPECT_EQ(trial["clip"], "clip 0");
  EXPECT_EQ(trial["reference"]["path"], "sounds/true rendering.flac");
  std::vector<std::string> names;
  for (const Json& stimulus : trial["stimuli"]) names.push_back(stimulus["system"]);
  EXPECT_THAT(names,
              ElementsAre("hidden reference", "anchor 3.5 kHz", "anchor 7 kHz", "hum", "sine"));
  EXPECT_EQ(trial["stimuli"][0]["path"], trial["reference"]["path"]);
  EXPECT_EQ(trial["stimuli"][0]["gain_db"], -3);
  EXPECT_EQ(trial["stimuli"][3]["gain_db"], 2.5);
  EXPECT_EQ(trial["stimuli"][4]["gain_db"], 0);  // silence
}

TEST(ListeningTest, IdChangesWithTheSounds) {
  const std::vector<std::string> rows = {"hum"};
  Json others = examples();
  others[0]["sounds"][0]["lufs"] = -25.4;
  EXPECT_EQ(listening_test(examples(), rows)["id"], listening_test(examples(), rows)["id"]);
  EXPECT_NE(listening_test(examples(), rows)["id"], listening_test(others, rows)["id"]);
}

TEST(ListeningTest, RefusesARowThatTheClipLacks) {
  const std::vector<std::string> rows = {"piano roll"};
  EXPECT_THROW(listening_test(examples(), rows), Error);
}

class AnswerFile : public ::testing::Test {
 protected:
  static Json valid() {
    return parse_json(R"({"test": "0123", "listener": "anna", "seed": 4294967295, "date": "",
        "trials": [{"clip": "clip 0", "seconds": 60,
                    "scores": {"hum": 61, "hidden reference": 100, "sine": 12.5}},
                   {"clip": "clip 1", "scores": {"hidden reference": 89, "hum": 0}}]})");
  }
  std::string written(const Json& json, const std::string& name = "a.json") const {
    write_file(folder_ / name, to_text(json));
    return folder_ / name;
  }
  // The message about an answer that a change has damaged.
  std::string refused(const std::function<void(Json&)>& damage) const {
    Json json = valid();
    damage(json);
    try {
      read_answers(written(json));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      return error.what();
    }
    return "accepted";
  }

  const ScratchFolder folder_;
};

TEST_F(AnswerFile, IsReadAsItWasSaved) {
  const Answers answers = read_answers(written(valid()));
  EXPECT_EQ(answers.test, "0123");
  EXPECT_EQ(answers.listener, "anna");
  EXPECT_EQ(answers.seed, 4294967295);
  ASSERT_EQ(answers.trials.size(), 2U);
  EXPECT_EQ(answers.trials[0].clip, "clip 0");
  EXPECT_EQ(answers.trials[0].scores.at("sine"), 12.5);
  EXPECT_EQ(answers.trials[1].scores.at("hum"), 0);
}

TEST_F(AnswerFile, IsRefusedWithThePlaceOfTheFault) {
  const auto trial = [](Json& json) -> Json& { return json["trials"][1]; };
  EXPECT_THAT(refused([](Json& json) { json = Json::array(); }),
              AllOf(HasSubstr("a.json: the file has no 'test'"), HasSubstr("listening.html")));
  EXPECT_THAT(refused([](Json& json) { json.erase("listener"); }), HasSubstr("no 'listener'"));
  EXPECT_THAT(refused([](Json& json) { json["listener"] = ""; }),
              HasSubstr("'listener' of the file is not a text"));
  EXPECT_THAT(refused([](Json& json) { json["seed"] = 1.5; }), HasSubstr("'seed' is not a whole"));
  EXPECT_THAT(refused([](Json& json) { json["trials"] = Json::array(); }),
              HasSubstr("'trials' is not a list of trials"));
  EXPECT_THAT(refused([&](Json& json) { trial(json) = 7; }), HasSubstr("trial 2 has no 'clip'"));
  EXPECT_THAT(refused([&](Json& json) { trial(json)["scores"] = "high"; }),
              HasSubstr("'scores' of trial 2 is not an object"));
  for (const Json& score : {Json(101), Json(-1), Json("61"), Json(), Json(true)}) {
    EXPECT_THAT(refused([&](Json& json) { trial(json)["scores"]["hum"] = score; }),
                HasSubstr("the score of 'hum' in trial 2 is not a number from 0 to 100"));
  }
  EXPECT_THAT(refused([&](Json& json) { trial(json)["scores"].erase("hidden reference"); }),
              HasSubstr("trial 2 has no score of the 'hidden reference'"));
  EXPECT_THAT(refused([&](Json& json) { trial(json)["clip"] = "clip 0"; }),
              HasSubstr("'clip 0' is rated twice"));
}

TEST_F(AnswerFile, BelongsToOneTestAndIsGivenOnce) {
  Json other = valid();
  other["seed"] = 2;
  const Answers anna = read_answers(written(valid(), "anna.json"));
  const Answers again = read_answers(written(other, "again.json"));
  require_one_test(std::vector{anna, again});  // a second session of hers
  const auto message = [](const std::vector<Answers>& all) -> std::string {
    try {
      require_one_test(all);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({anna, again, anna}), HasSubstr("anna.json: holds the same answers as"));
  Answers foreign = again;
  foreign.test = "4567";
  EXPECT_THAT(message({anna, foreign}), HasSubstr("again.json: is of another listening test"));
}

// As in tables of Student's distribution.
TEST(StudentT, AgreesWithTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t(0.95, 2), 4.3027, 1e-4);
  EXPECT_NEAR(student_t(0.95, 3), 3.1824, 1e-4);
  EXPECT_NEAR(student_t(0.95, 10), 2.2281, 1e-4);
  EXPECT_NEAR(student_t(0.99, 7), 3.4995, 1e-4);
  EXPECT_NEAR(student_t(0.95, 120), 1.9799, 1e-4);
  EXPECT_THROW(student_t(0.95, 0), Error);
}

Answers answers_of(const std::string& listener, const std::vector<double>& references,
                   const std::vector<double>& hum) {
  Answers answers{.file = listener + ".json", .test = "0123", .listener = listener};
  for (size_t i = 0; i < references.size(); ++i) {
    answers.trials.push_back(
        {fmt::format("clip {}", i), {{"hidden reference", references[i]}, {"hum", hum[i]}}});
  }
  return answers;
}

TEST(ListeningScores, AreMeansWithStudentsInterval) {
  const std::vector<Answers> all = {answers_of("anna", {100, 100}, {50, 60}),
                                    answers_of("ben", {96, 100}, {70, 80})};
  const ListeningScores scores = listening_scores(all);
  ASSERT_EQ(scores.systems.size(), 2U);
  EXPECT_EQ(scores.systems[0].system, "hidden reference");
  EXPECT_EQ(scores.systems[0].mean, 99);
  EXPECT_EQ(scores.systems[0].median, 100);
  // 50, 60, 70, 80: s = sqrt(500 / 3) = 12.910, s / 2 = 6.4550, t(3) = 3.1824: 65 +- 20.543.
  const SystemScore& hum = scores.systems[1];
  EXPECT_EQ(hum.system, "hum");
  EXPECT_EQ(hum.scores, 4);
  EXPECT_EQ(hum.mean, 65);
  EXPECT_EQ(hum.median, 65);
  EXPECT_NEAR(hum.low, 44.457, 1e-3);
  EXPECT_NEAR(hum.high, 85.543, 1e-3);
}

TEST(ListeningScores, OneScoreHasNoInterval) {
  const std::vector<Answers> all = {answers_of("anna", {100}, {50})};
  const ListeningScores scores = listening_scores(all);
  EXPECT_EQ(scores.systems[1].mean, 50);
  EXPECT_TRUE(std::isnan(scores.systems[1].low));
  EXPECT_TRUE(std::isnan(scores.systems[1].high));
}

// 3 of 20 trials are 15 %, which the standard allows; 1 of 6 is more.
TEST(ListeningScores, ListenersWhoMissTheReferenceInMoreThan15PercentAreLeftOut) {
  std::vector<double> references(20, 90), hum(20, 50);
  references[0] = references[1] = references[2] = 89.5;
  const std::vector<Answers> all = {
      answers_of("anna", references, hum),
      answers_of("ben", {100, 100, 100, 100, 100, 89}, {0, 0, 0, 0, 0, 0})};
  const ListeningScores scores = listening_scores(all);
  ASSERT_EQ(scores.listeners.size(), 2U);
  EXPECT_EQ(scores.listeners[0].low_references, 3);
  EXPECT_FALSE(scores.listeners[0].is_excluded);
  EXPECT_EQ(scores.listeners[1].low_references, 1);
  EXPECT_TRUE(scores.listeners[1].is_excluded);
  EXPECT_EQ(scores.systems[1].scores, 20);
  EXPECT_EQ(scores.systems[1].mean, 50);
  EXPECT_TRUE(listening_scores(std::span(all).last(1)).systems.empty());
}

}  // namespace
}  // namespace hum::eval
