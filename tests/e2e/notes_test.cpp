// hum notes, evaluate notes, presets, env, help.
#include "audio/notes.h"

#include <algorithm>

#include "base/folders.h"
#include "base/json.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string stored_notes() {
  return (source_folder() / "tests/data/basic-pitch/notes.json").string();
}

TEST_F(Program, NotesOfARealSingerAreThoseOfBasicPitch) {
  for (const char* name : {"melody.json", "melody.csv", "melody.mid"}) {
    const auto run = run_hum({"notes", example_recording().string(), "-o", path(name)});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("28 notes in 9.1 s"));
    const auto judged = run_hum({"evaluate", "notes", stored_notes(), path(name), "--json"});
    ASSERT_EQ(judged.code, 0) << judged.err;
    const Json score = parse_json(judged.out);
    EXPECT_EQ(score["f1"], 1.0) << name;
    EXPECT_EQ(score["matched"], 28);
  }
  EXPECT_THAT(files(), ElementsAre("melody.csv", "melody.json", "melody.mid"));
}

TEST_F(Program, NotesOfAPhonesMemoAreThoseOfTheSameSamplesAsWav) {
  const std::string sound = example_recording().string();
  ASSERT_EQ(run_shell("ffmpeg -v error -i " + sound + " -c:a alac " + path("memo.m4a")).code, 0);
  const auto run = run_hum({"notes", path("memo.m4a")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, run_hum({"notes", sound}).out);
  EXPECT_THAT(files(), ElementsAre("memo.m4a"));
}

TEST_F(Program, NotesStopAtCtrlCAndWriteNothing) {
  const std::string hum = write_hum("a.wav", 500);
  for (const char* listener : {"--voice", "--no-voice"}) {
    const auto run =
        run_hum({"notes", hum, listener, "-o", path("a.mid")}, {.interrupt_after_ms = 400});
    EXPECT_EQ(run.code, 130) << run.err;
    EXPECT_THAT(run.err, HasSubstr("hum: error: stopped\nhint: run the command again\n"));
    EXPECT_THAT(files(), ElementsAre("a.wav"));
  }
}

TEST_F(Program, TheNotesOfAVoiceAreOneLineWithTheNoteThatBasicPitchMisses) {
  const auto run =
      run_hum({"notes", example_recording().string(), "--voice", "-o", path("n.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto notes = audio::read_notes(path("n.json"));
  EXPECT_GE(notes.size(), 24U);
  for (size_t i = 1; i < notes.size(); ++i) EXPECT_GE(notes[i].start_s, notes[i - 1].end_s - 1e-6);
  EXPECT_TRUE(std::ranges::any_of(notes, [](const audio::Note& note) {
    return note.pitch == 50 && note.start_s > 5.7 && note.end_s < 6.1;
  }));
}

TEST_F(Program, VoiceHasItsEarlierSpelling) {
  const std::string hum = write_hum("a.wav");
  const auto now = run_hum({"notes", hum, "--voice", "--json"});
  const auto before = run_hum({"notes", hum, "--clean-up", "--json"});
  ASSERT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(before.out, now.out);
  EXPECT_EQ(before.err, now.err);
  const auto all = run_hum({"notes", hum, "--voice", "--no-clean-up", "--json"});
  EXPECT_EQ(parse_json(all.out)["heard_by"], "basic-pitch");
  const auto help = run_hum({"notes", "--help"});
  EXPECT_THAT(help.out, HasSubstr("--voice"));
  EXPECT_THAT(help.out, testing::Not(HasSubstr("clean-up")));
}

TEST_F(Program, NotesInAMidiFileHaveTheirKey) {
  const auto run = run_hum({"notes", example_recording().string(), "--voice", "--key", "C:minor",
                            "-o", path("melody.mid")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(read("melody.mid"), HasSubstr("\xff\x59\x02\xfd\x01"));  // three flats, minor
}

TEST_F(Program, NotesAreJsonOnStdoutBesideAFile) {
  const auto run = run_hum({"notes", example_recording().string(), "--voice", "--json", "-o",
                            path("n.json"), "--tempo", "90"},
                           {.environment = {{"HUM_LOG", "debug"}}});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("beats per minute"));
  const Json report = parse_json(run.out);  // no log line in it
  EXPECT_EQ(report["heard_by"], "ear");
  EXPECT_EQ(report["tempo_bpm"], 90);
  EXPECT_TRUE(report["heard_key"].is_string());
  for (const char* key : {"tuning_cents", "confidence", "voiced_share", "audio_seconds"}) {
    EXPECT_TRUE(report[key].is_number()) << key;
  }
  EXPECT_TRUE(report["warnings"].is_array());
  EXPECT_EQ(report["notes"], parse_json(read("n.json"))["notes"]);
  EXPECT_EQ(report["notes"][0]["name"], audio::note_name(report["notes"][0]["pitch"]));

  write("stdout.json", run.out);  // a file of notes as well
  EXPECT_EQ(audio::read_notes(path("stdout.json")), audio::read_notes(path("n.json")));

  const Json all = parse_json(run_hum({"notes", example_recording().string(), "--json"}).out);
  EXPECT_EQ(all["heard_by"], "basic-pitch");
  EXPECT_EQ(all["notes"].size(), 28U);
  EXPECT_FALSE(all.contains("tuning_cents"));
}

TEST_F(Program, AVoiceIsHeardByTheEarOfTheWeights) {
  const std::string hum = write_hum("a.wav"), weights = path("weights");
  write_tiny_ear(weights);
  // An untrained ear may find no melody.
  const auto heard = run_hum(
      {"notes", hum, "--voice", "--json", "--weights", weights, "--onset-threshold", "0.4"});
  EXPECT_THAT(heard.err, HasSubstr("the ear hears this recording; --onset-threshold"));
  if (heard.code == 0) {
    EXPECT_EQ(parse_json(heard.out)["heard_by"], "ear");
  } else {
    EXPECT_EQ(heard.code, 65) << heard.err;
  }
  EXPECT_EQ(run_hum({"notes", hum, "--json", "--weights", weights}).code, 0);
  std::filesystem::remove(weights + "/ear/model.safetensors");
  const auto damaged = run_hum({"notes", hum, "--voice", "--weights", weights});
  EXPECT_EQ(damaged.code, 66);
  EXPECT_THAT(damaged.err, HasSubstr("ear"));
}

TEST_F(Program, NotesAreListedWithoutAnOutput) {
  const auto run = run_hum({"notes", example_recording().string()});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("start s    end s  note  MIDI  amplitude"));
  EXPECT_THAT(run.out, testing::ContainsRegex("[A-G]#?[0-9] +[0-9]+ +0[.]"));
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 29);
}

TEST_F(Program, NoteFlagsDoWhatTheySay) {
  const std::string recording = example_recording().string();
  auto count = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"notes", recording, "-o", path("n.json")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto run = run_hum(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return audio::read_notes(path("n.json")).size();
  };
  EXPECT_GT(count({"--onset-threshold", "0.3"}), 28U);
  EXPECT_LT(count({"--minimum-note-length", "250"}), 15U);
  EXPECT_LT(count({"--no-melodia"}), 28U);
  count({});
  const std::string with_inferred_onsets = read("n.json");
  count({"--no-infer-onsets"});
  EXPECT_NE(read("n.json"), with_inferred_onsets);
  count({"--minimum-frequency", "120"});
  for (const auto& note : audio::read_notes(path("n.json"))) EXPECT_GT(note.pitch, 46);
  count({"--maximum-frequency", "120"});
  for (const auto& note : audio::read_notes(path("n.json"))) EXPECT_LT(note.pitch, 47);
}

TEST_F(Program, KeptNotesAreCountedBesideThoseOfTheRealInstrument) {
  // Eight notes where a piano plays, and the same without the last.
  Json notes = Json::array();
  const int pitches[] = {62, 69, 64, 67, 71, 66, 72, 60};
  for (const int pitch : pitches) {
    const double start_s = 0.2 + 0.5 * static_cast<double>(notes.size());
    notes.push_back({{"start", start_s},
                     {"end", start_s + 0.4},
                     {"pitch", pitch},
                     {"amplitude", 0.7},
                     {"bends", Json::array()}});
  }
  write("melody.json", to_text(Json{{"notes", notes}}));
  notes.erase(notes.size() - 1);
  write("heard.json", to_text(Json{{"notes", notes}}));
  const std::vector<std::string> command = {
      "evaluate",          "notes", path("melody.json"), path("heard.json"),
      "--onset-tolerance", "100",   "--beside",          "piano"};
  auto json = command;
  json.emplace_back("--json");
  const auto judged = run_hum(json);
  ASSERT_EQ(judged.code, 0) << judged.err;
  const Json score = parse_json(judged.out);
  EXPECT_EQ(score["matched"], 7);
  const Json& real = score["beside"];
  EXPECT_GE(real["matched"], 6);
  EXPECT_GE(real["estimated_notes"], real["matched"]);

  const auto text = run_hum(command);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, testing::EndsWith(
                            fmt::format("7 of the melody's 8 notes can be heard in the result. A "
                                        "real acoustic-grand-piano, recorded note by note, keeps "
                                        "{} of them.\n",
                                        real["matched"].get<int>())));
  auto unknown = command;
  unknown.back() = "violni";  // the nearest name is offered
  const auto refused = run_hum(unknown);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("violin"));
}

TEST_F(Program, NoteFlagsOutOfRangeAreUsageErrors) {
  const std::string recording = example_recording().string();
  const auto high = run_hum({"notes", recording, "--onset-threshold", "1.5"});
  EXPECT_EQ(high.code, 2);
  EXPECT_THAT(high.err, HasSubstr("--onset-threshold"));
  EXPECT_EQ(run_hum({"notes", recording, "--tempo", "0"}).code, 2);
  EXPECT_EQ(run_hum({"notes", recording, "--no-such-flag"}).code, 2);
  EXPECT_EQ(run_hum({"notes"}).code, 2);
  EXPECT_EQ(run_hum({}).code, 2);
}

TEST_F(Program, NotesAreJudgedWithinTheToleranceThatIsGiven) {
  write("a.json", R"({"notes": [{"start": 0, "end": 1, "pitch": 60, "amplitude": 0.5},
                               {"start": 1, "end": 2, "pitch": 62, "amplitude": 0.5}]})");
  write("b.json", R"({"notes": [{"start": 0.08, "end": 1, "pitch": 60, "amplitude": 0.5},
                               {"start": 1, "end": 2, "pitch": 62, "amplitude": 0.5}]})");
  auto f1 = [&](const char* tolerance_ms) {
    const auto run = run_hum({"evaluate", "notes", path("a.json"), path("b.json"), "--json",
                              "--onset-tolerance", tolerance_ms});
    EXPECT_EQ(run.code, 0) << run.err;
    return parse_json(run.out)["f1"].get<double>();
  };
  EXPECT_EQ(f1("50"), 0.5);
  EXPECT_EQ(f1("100"), 1.0);
  const auto text = run_hum({"evaluate", "notes", path("a.json"), path("b.json")});
  EXPECT_THAT(text.out, HasSubstr("F1 0.500"));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("--best-octave")));
  write("higher.json", R"({"notes": [{"start": 0, "end": 1, "pitch": 72, "amplitude": 0.5},
                                    {"start": 1, "end": 2, "pitch": 74, "amplitude": 0.5}]})");
  EXPECT_THAT(run_hum({"evaluate", "notes", path("a.json"), path("higher.json")}).out,
              HasSubstr("moved by -12 semitones: --best-octave"));
  EXPECT_EQ(run_hum({"evaluate", "notes", path("a.json"), path("c.json")}).code, 66);
  const auto refused =
      run_hum({"evaluate", "notes", path("a.json"), path("b.json"), "--offset-ratio", "-0.2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--offset-ratio must not be negative"));
}

TEST_F(Program, PresetsAreListed) {
  const auto text = run_hum({"presets"});
  ASSERT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("violin"));
  EXPECT_GE(std::ranges::count(text.out, '\n'), 88);
  const Json list = parse_json(run_hum({"presets", "--json"}).out);
  EXPECT_EQ(list.size(), 88U);  // the released weights': weights/README.md
  for (const auto& preset : list) {
    EXPECT_TRUE(preset["trained"].get<bool>());
    EXPECT_FALSE(preset["held_out"].get<bool>());
  }
  EXPECT_GE(parse_json(run_hum({"presets", "--json", "--all"}).out).size(), 100U);
  const auto unknown = run_hum({"presets", "--weights", folder_.string()});
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("holds no references"));
}

TEST_F(Program, EnvironmentVariablesAreListedWithTheirValues) {
  const auto run = run_hum({"env", "--json"}, {.environment = {{"HUM_THREADS", "1"}}});
  ASSERT_EQ(run.code, 0);
  const Json variables = parse_json(run.out);
  const auto threads = std::ranges::find_if(
      variables, [](const Json& variable) { return variable["name"] == "HUM_THREADS"; });
  ASSERT_NE(threads, variables.end());
  EXPECT_EQ((*threads)["value"], "1");
  EXPECT_THAT(run_hum({"env"}).out, HasSubstr("HUM_PLUGIN"));
}

TEST_F(Program, ProfileRunsAnotherCommandWithItsFlags) {
  const std::string hum = write_hum("a.wav");
  const auto run = run_hum({"profile", "--json", path("profile.json"), "notes", hum, "-o",
                            path("a.mid"), "--minimum-note-length", "100"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("basic_pitch"));
  EXPECT_GT(parse_json(read("profile.json"))["programs"].size(), 0u);
  EXPECT_THAT(files(), ElementsAre("a.mid", "a.wav", "profile.json"));
  EXPECT_EQ(run_hum({"profile"}).code, 2);
  EXPECT_EQ(run_hum({"profile", "notes", "--no-such-flag"}).code, 2);
}

TEST_F(Program, EveryCommandHelpsWithAnExample) {
  const auto help = run_hum({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("hum generate examples/vocadito_10.wav"));
  const std::vector<std::vector<std::string>> commands = {{"generate"},
                                                          {"arrange"},
                                                          {"notes"},
                                                          {"presets"},
                                                          {"evaluate", "notes"},
                                                          {"evaluate", "model"},
                                                          {"evaluate", "codec"},
                                                          {"evaluate", "stems"},
                                                          {"codec", "encode"},
                                                          {"codec", "decode"},
                                                          {"train"},
                                                          {"data", "make"},
                                                          {"data", "verify"},
                                                          {"data", "references"},
                                                          {"model", "check"},
                                                          {"model", "run"},
                                                          {"profile"},
                                                          {"audit"},
                                                          {"compile"},
                                                          {"plan"},
                                                          {"plan", "memory"},
                                                          {"plan", "compare"},
                                                          {"plan", "assess"},
                                                          {"plan", "predict"},
                                                          {"plan", "calibrate"},
                                                          {"plan", "audit"},
                                                          {"env"}};
  for (auto command : commands) {
    std::string name = "hum";
    for (const auto& word : command) name += " " + word;
    command.push_back("--help");
    const auto run = run_hum(command);
    EXPECT_EQ(run.code, 0) << name;
    EXPECT_THAT(run.out, HasSubstr("Example:\n  " + name)) << name;
  }
  EXPECT_EQ(run_hum({"--version"}).code, 0);
}

}  // namespace
}  // namespace hum::e2e
