#include "serve/jobs/job_options.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/fields_json.h"

namespace hum::serve {
namespace {

using ::testing::HasSubstr;

JobOptions parsed(const std::string& text, Task task = Task::kGenerate) {
  return parse_job_options(parse_json(text), task);
}

// The message and the hint of the refusal.
std::string refusal(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
    return error.message() + " | " + hint_for_callers(error);
  }
  return "accepted";
}

std::string refusal_of(const std::string& text, JobRequest request = {}) {
  return refusal([&] { validate(parsed(text, request.task), request); });
}

TEST(JobOptions, HaveTheDefaultsOfTheProgram) {
  const auto options = parsed("{}");
  EXPECT_EQ(options.takes, 1);
  EXPECT_EQ(options.score.snap, "off");
  EXPECT_EQ(options.play.sampling.seed, app::SynthesisOptions().sampling.seed);
  EXPECT_EQ(parsed("{}", Task::kArrange).score.snap, "1") << "as in hum arrange";
  EXPECT_EQ(parsed(R"({"snap": "off"})", Task::kArrange).score.snap, "off");
}

TEST(JobOptions, TakeNumbersWhereTextsAreExpected) {
  const auto options = parsed(R"({"snap": 1, "tempo": 120, "octave": -1, "correct": 0.5})");
  EXPECT_EQ(options.score.snap, "1");
  EXPECT_EQ(options.score.tempo, "120");
  EXPECT_EQ(options.hum.octave, "-1");
  EXPECT_EQ(options.score.correct, "0.5");
  EXPECT_EQ(refusal_of(R"({"preset": "flute", "snap": 1, "tempo": 120, "octave": -1})"),
            "accepted");
}

TEST(JobOptions, AnUnknownFieldNamesTheNearest) {
  EXPECT_THAT(refusal_of(R"({"presets": "flute"})"), HasSubstr("'preset'"));
  EXPECT_THAT(refusal_of(R"({"tempreature": 1})"), HasSubstr("'temperature'"));
  EXPECT_THAT(refusal_of(R"([1])"), HasSubstr("expected an object"));
}

TEST(JobOptions, NoFieldNamesAFileAFolderOrAProgram) {
  for (const char* field : {"timbre", "backing", "weights", "input", "output", "midi", "picture",
                            "device", "plugin", "max_seconds"}) {
    EXPECT_THAT(refusal_of(fmt::format(R"({{"{}": "x"}})", field)), HasSubstr("there is no field"))
        << field;
  }
}

TEST(JobOptions, ValuesOutOfRangeAreRefusedByTheNameOfTheirField) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"preset": "flute", "takes": 0})", "takes 0 is outside 1..8"},
      {R"({"preset": "flute", "takes": 1e300})", "options: takes"},
      {R"({"preset": "flute", "takes": 1.5})", "options: takes"},
      {R"({"preset": "flute", "takes": "two"})", "options: takes"},
      {R"({"preset": "flute", "lm": 1})", "options: lm"},
      {R"({"preset": "flute", "takes": 2})", "several takes need lm"},
      {R"({"preset": "flute", "strength": 0.2})", "need lm"},
      {R"({"preset": "flut"})", "flute"},
      {R"({"preset": "flute", "snap": 2})", "snap"},
      {R"({"preset": "flute", "rate": 8000})", "rate 8000"},
      {R"({"preset": "flute", "format": "aiff"})", "format"},
      {R"({"preset": "flute", "format": "flac", "bits": "float"})", "flac cannot hold float"},
      {R"({"preset": "flute", "gain": 3})", "gain needs backing"},
      {R"({"preset": "flute", "transpose": 200})", "transpose 200"},
      {R"({"preset": "flute", "lm": true, "temperature": -1})", "temperature -1"},
      {R"({})", "neither the option preset nor a timbre"}};
  for (const auto& [text, expected] : cases) {
    const std::string message = refusal_of(text);
    EXPECT_THAT(message, HasSubstr(expected)) << text;
    EXPECT_THAT(message, ::testing::Not(HasSubstr("--"))) << text;
  }
}

TEST(JobOptions, HintsNameFieldsAsInJson) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"preset": "flute", "loop": true, "tempo": "off"})", R"(| "tempo": "auto")"},
      {R"({"preset": "flute", "tempo": 9000})", R"(| "tempo": 120 stretches)"},
      {R"({"preset": "flute", "snap": 2})", R"(| "snap": 0.7 moves)"},
      {R"({"preset": "flute", "swing": 60})", R"(| add "snap": 1 and "grid": "1/16")"},
      {R"({"preset": "flute", "octave": "up"})", R"(| "octave": 1 moves)"},
      {R"({"preset": "flute", "gain": 3})", "| add the song with backing"},
      {R"({"preset": "flute", "format": "flac", "bits": "float"})",
       R"(| use "bits": "24", or wav)"},
      {R"({"preset": "flut"})", "GET /v1/presets lists all"}};
  for (const auto& [text, hint] : cases) EXPECT_THAT(refusal_of(text), HasSubstr(hint)) << text;
  EXPECT_EQ(hint_for_callers(Error(ExitCode::kBadData, "no key", "give it, such as --key C:major")),
            R"(give it, such as "key": "C:major")");
  EXPECT_EQ(hint_for_callers(Error(ExitCode::kUsage, "no", "omit --top-k and every --guidance")),
            "omit top_k and every guidance");
  EXPECT_EQ(hint_for_callers(Error(ExitCode::kUsage, "no", "")), "");
}

TEST(JobOptions, AnArrangementNeedsATempo) {
  const std::string refused =
      refusal_of(R"({"preset": "flute", "tempo": "off"})", {.task = Task::kArrange});
  EXPECT_THAT(refused, HasSubstr("an arrangement needs a tempo, but tempo is off"));
  EXPECT_THAT(refused, ::testing::Not(HasSubstr("snap")));
}

TEST(JobOptions, MustFitTheTaskAndItsSounds) {
  EXPECT_EQ(refusal_of("{}", {.task = Task::kNotes}), "accepted");
  EXPECT_EQ(refusal_of("{}", {.timbre = "id"}), "accepted");
  EXPECT_EQ(refusal_of(R"({"preset": "flute", "gain": 3})", {.backing = "id"}), "accepted");
  EXPECT_EQ(refusal_of(R"({"preset": "flute"})", {.task = Task::kArrange}), "accepted");
  EXPECT_THAT(refusal_of(R"({"preset": "flute"})", {.timbre = "id"}), HasSubstr("combined"));
  EXPECT_THAT(refusal_of("{}", {.task = Task::kNotes, .backing = "id"}), HasSubstr("neither"));
  EXPECT_THAT(refusal_of(R"({"preset": "flute", "beats": 5})", {.task = Task::kArrange}),
              HasSubstr("beats 5"));
  EXPECT_THAT(refusal_of(R"({"preset": "flute", "loop": true})", {.backing = "id"}),
              HasSubstr("loop and backing"));
}

TEST(JobOptions, SurviveTheirRecord) {
  auto options = parsed(R"({"preset": "flute", "snap": 0.5, "takes": 3, "grid": "1/8"})");
  const Json stored = hum::to_json(options);
  auto again = parse_job_options(stored, Task::kGenerate);
  EXPECT_EQ(hum::to_json(again), stored);
}

TEST(JobOptions, TheSchemaDescribesEveryField) {
  JobOptions options;
  const Json fields = hum::to_json(options);
  const Json schema = job_options_schema();
  EXPECT_EQ(schema["properties"].size(), fields.size());
  for (const auto& [name, value] : fields.items()) {
    ASSERT_TRUE(schema["properties"].contains(name)) << name;
    EXPECT_EQ(schema["properties"][name]["default"], value) << name;
    EXPECT_THAT(schema["properties"][name]["description"].get<std::string>(),
                ::testing::Not(HasSubstr("--")));
  }
  EXPECT_EQ(schema["additionalProperties"], false);
}

TEST(GivenNotes, AreCheckedAndSorted) {
  const auto notes =
      parse_given_notes(parse_json(R"({"notes": [{"start": 1, "end": 2, "pitch": 62, "name": "D4"},
                               {"start": 0, "end": 1, "pitch": 60.0}], "key": "C"})"),
                        600);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].pitch, 60);
  const auto refused = [](const std::string& text) {
    return refusal([&] { parse_given_notes(parse_json(text), 600); });
  };
  EXPECT_THAT(refused("[]"), HasSubstr("1 to"));
  EXPECT_THAT(refused("3"), HasSubstr("not a list"));
  EXPECT_THAT(refused(R"([{"start": 0}])"), HasSubstr("note 1"));
  EXPECT_THAT(refused(R"([{"start": 2, "end": 1, "pitch": 60}])"), HasSubstr("note 1"));
  EXPECT_THAT(refused(R"([{"start": 0, "end": 1, "pitch": 400}])"),
              HasSubstr("pitch 400 is outside 0..127"));
  EXPECT_THAT(refused(R"([{"start": 0, "ende": 1, "pitch": 60}])"),
              HasSubstr("notes: note 1: there is no key 'ende' | the nearest one is 'end'"));
  EXPECT_THAT(refused(R"([{"start": 0, "end": 601, "pitch": 60}])"), HasSubstr("601"));
  EXPECT_THAT(refused(R"([{"start": 0, "end": 1, "pitch": 60, "bends": [1e9]}])"),
              HasSubstr("bend"));
}

TEST(GivenNotes, MayOverlapOnlySoMuch) {
  Json notes = Json::array();
  for (int i = 0; i < 9; ++i) notes.push_back({{"start", 0}, {"end", 599}, {"pitch", 60 + i}});
  EXPECT_THAT(refusal([&] { parse_given_notes(notes, 600); }), HasSubstr("together"));
  notes.erase(8);
  EXPECT_EQ(parse_given_notes(notes, 600).size(), 8U);
}

TEST(FieldNames, ReplaceFlags) {
  EXPECT_EQ(with_field_names("--top-p 3 is outside 0..1 (--top-k too)"),
            "top_p 3 is outside 0..1 (top_k too)");
  EXPECT_EQ(with_field_names("a -- b, 1--2, --"), "a -- b, 1--2, --");
}

}  // namespace
}  // namespace hum::serve
