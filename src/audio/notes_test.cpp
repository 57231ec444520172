#include "audio/notes.h"

#include <gmock/gmock.h>

#include <array>

#include "audio/bends.h"
#include "audio/notes_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"

namespace hum::audio {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

TEST(NoteNames, CountOctavesFromC) {
  EXPECT_EQ(note_name(69), "A4");
  EXPECT_EQ(note_name(61), "C#4");
  EXPECT_EQ(note_name(60), "C4");
  EXPECT_EQ(note_name(59), "B3");
  EXPECT_EQ(note_name(0), "C-1");
  EXPECT_EQ(note_name(127), "G9");
  EXPECT_EQ(note_name(-1), "B-2");
}

// 20 cents above C#4.
Note sung() {
  return {.start_s = 0.5,
          .end_s = 1.25,
          .pitch = 61,
          .amplitude = 0.6,
          .bends = {0, 1},
          .hz = midi_to_hz(61.2),
          .confidence = 0.75};
}

TEST(Notes, MoveWithTheirSungPitch) {
  Note note = sung();
  EXPECT_NEAR(cents_of(note), 20, 1e-9);
  transpose(note, -13);
  EXPECT_EQ(note.pitch, 48);
  EXPECT_NEAR(cents_of(note), 20, 1e-9);
  Note unknown{.pitch = 61};
  transpose(unknown, 12);
  EXPECT_EQ(unknown, Note{.pitch = 73});
}

TEST(Notes, AreAsCertainAsTheirConfidenceOrElseTheirAmplitude) {
  EXPECT_EQ(certainty(sung()), 0.75);
  EXPECT_EQ(certainty({.amplitude = 0.4}), 0.4);
}

TEST(NoteJson, HoldsWhatIsKnown) {
  const Json json = to_json(sung());
  EXPECT_EQ(json["name"], "C#4");
  EXPECT_EQ(json["cents"], 20.0);
  EXPECT_EQ(json["hz"], midi_to_hz(61.2));
  EXPECT_EQ(json["confidence"], 0.75);
  EXPECT_EQ(note_from_json(json), sung());

  const Note plain{1, 2, 69, 0.5, {}};
  const Json few = to_json(plain);
  EXPECT_EQ(few["name"], "A4");
  for (const char* key : {"hz", "cents", "confidence"}) EXPECT_FALSE(few.contains(key)) << key;
  EXPECT_EQ(note_from_json(few), plain);
}

TEST(NoteJson, OfEarlierReleasesIsRead) {
  EXPECT_EQ(note_from_json(parse_json(
                R"({"start": 1, "end": 2, "pitch": 60, "amplitude": 0.5, "bends": [1, 0]})")),
            (Note{1, 2, 60, 0.5, {1, 0}}));
}

TEST(NoteJson, FilesKeepTheSungPitchAndRefuseImpossibleOnes) {
  const ScratchFolder folder;
  const auto path = folder / "a.json";
  const std::vector<Note> notes{sung(), {2, 3, 60, 0.8, {}}};
  write_notes(path, notes);
  EXPECT_EQ(read_notes(path), notes);
  for (const char* fault : {R"("hz": -1)", R"("confidence": 1.5)", R"("hz": "high")"}) {
    write_file(path,
               fmt::format(R"({{"notes": [{{"start": 1, "end": 2, "pitch": 60, {}}}]}})", fault));
    EXPECT_THROW(read_notes(path), Error) << fault;
  }
}

TEST(NoteJson, SaysWhichNoteHasWhichFault) {
  const auto refusal = [](const std::string& second) {
    try {
      notes_from_json(parse_json(R"([{"start": 0, "end": 1, "pitch": 60}, )" + second + "]"), "it");
    } catch (const Error& error) {
      return error.message() + " | " + error.hint();
    }
    return std::string("accepted");
  };
  const std::pair<const char*, const char*> cases[] = {
      {R"({"start": 1, "ende": 2, "pitch": 60})", "no key 'ende' | the nearest one is 'end'"},
      {R"({"start": 1, "end": 2, "pitch": 60, "amplitud": 1})", "no key 'amplitud'"},
      {R"({"start": 1, "pitch": 60})", "it has no 'end'"},
      {R"({"start": 1, "end": 2, "pitch": 600})", "pitch 600 is outside 0..127"},
      {R"({"start": 1, "end": 2, "pitch": -1})", "pitch -1 is outside 0..127"},
      {R"({"start": 1, "end": 2, "pitch": "C4"})", "pitch is \"C4\", not a number"},
      {R"({"start": null, "end": 2, "pitch": 60})", "start is null, not a number"},
      {R"({"start": 1, "end": 2, "pitch": 60, "amplitude": 2})", "amplitude 2 is outside 0..1"},
      {R"({"start": 1, "end": 2, "pitch": 60, "hz": -3})", "hz -3 is not a frequency"},
      {R"({"start": 1, "end": 2, "pitch": 60, "hz": 1e308})", "hz 1e+308 is above 100000"},
      {R"({"start": 1, "end": 2, "pitch": 60, "bends": 1})", "bends is 1, not a list"},
      {R"({"start": 1, "end": 2, "pitch": 60, "bends": [0, 900]})",
       "bend 900 is not a number from -384 to 384"},
      {"[1, 2, 60]", "is an array"}};
  for (const auto& [note, fault] : cases) {
    EXPECT_THAT(refusal(note), testing::HasSubstr("it: note 2: "));
    EXPECT_THAT(refusal(note), testing::HasSubstr(fault));
    EXPECT_THAT(refusal(note), testing::Not(testing::HasSubstr("json.exception")));
  }
  EXPECT_EQ(refusal(to_text(to_json(sung()))), "accepted");
}

TEST(NotesCsv, NamesAPitchOutOfRange) {
  const ScratchFolder folder;
  write_file(folder / "a.csv", "0,1,600,100\n");
  try {
    read_notes(folder / "a.csv");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("line 1: pitch 600 is outside 0..127"));
  }
}

TEST(Bends, AreAsManyAsThereAreStepsInTheNote) {
  const auto times = bend_times({.start_s = 1, .end_s = 1 + 10 * kBendStep_s});
  ASSERT_EQ(times.size(), 11U);
  EXPECT_DOUBLE_EQ(times.front(), 1);
  EXPECT_DOUBLE_EQ(times.back(), 1 + 10 * kBendStep_s);
  EXPECT_EQ(bend_times({.start_s = 0, .end_s = 0.001}).size(), 2U);
}

TEST(Bends, FollowTheVoiceOnceItHasLeftThePitch) {
  // Wavers at the border of the first step, then rises.
  EXPECT_THAT(sung_bends(std::array{0.0, 0.55, 0.45, 0.6, 0.8, 0.6, 1.6, 1.8, 0.3, 0.0}),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 2, 0, 0));
  EXPECT_TRUE(sung_bends({}).empty());
}

TEST(Bends, LeaveOutTheGlideIntoANote) {
  std::vector<double> thirds{-6, -5, -4, -3, -2, -1};
  thirds.resize(40, 0.0);
  EXPECT_THAT(sung_bends(thirds), Each(0));
  // A slower one is sung on purpose.
  for (size_t i = 0; i < thirds.size(); ++i) thirds[i] = -6 + 6 * static_cast<double>(i) / 39;
  EXPECT_THAT(sung_bends(thirds).front(), AllOf(Ge(-6), Le(-4)));
}

TEST(Bends, MoveTogether) {
  Note note{.bends = {1, 0, -1}};
  shift_bends(note, 2);
  EXPECT_THAT(note.bends, ElementsAre(3, 2, 1));
  Note straight{.end_s = 1};
  shift_bends(straight, 0);
  EXPECT_TRUE(straight.bends.empty());
  shift_bends(straight, -1);
  EXPECT_DOUBLE_EQ(pitch_at(straight, 0), 60 - 1.0 / 3);
}

}  // namespace
}  // namespace hum::audio
