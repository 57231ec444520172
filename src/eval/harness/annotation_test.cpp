#include "eval/harness/annotation.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::eval {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Annotation : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return folder_ / name;
  }
  // What reading a file with these rows throws.
  std::string fault(const std::string& rows) const {
    const auto path = file("faulty.csv", rows);
    EXPECT_EQ(code_of([&] { read_annotation(path); }), ExitCode::kBadData) << rows;
    return message_of([&] { read_annotation(path); });
  }

  ScratchFolder folder_;
};

TEST_F(Annotation, RowsAreOnsetPitchAndDuration) {
  const auto path = file("a.csv", "0.5,220,0.25\r\n1, 146.83 ,0\n\n2,440.5,1.5");
  EXPECT_THAT(read_annotation(path),
              ElementsAre(PitchedNote{0.5, 0.75, 220}, PitchedNote{1, 1, 146.83},
                          PitchedNote{2, 3.5, 440.5}));
}

TEST_F(Annotation, OtherRowsAreRefusedWithTheirLine) {
  EXPECT_THAT(fault("0,220,1\n1,220\n"), HasSubstr("faulty.csv: line 2: expected 3 numbers"));
  EXPECT_THAT(fault("0,220,1,5\n"), HasSubstr("line 1: expected 3 numbers"));
  EXPECT_THAT(fault("onset,pitch,duration\n"), HasSubstr("line 1: 'onset' is not a number"));
  EXPECT_THAT(fault("0,220,1\n\n1,nan,1\n"), HasSubstr("line 3: 'nan' is not a number"));
  EXPECT_THAT(fault("inf,220,1\n"), HasSubstr("'inf' is not a number"));
  EXPECT_THAT(fault("0,220,\n"), HasSubstr("'' is not a number"));
  EXPECT_THAT(fault("-0.1,220,1\n"), HasSubstr("before zero"));
  EXPECT_THAT(fault("0,0,1\n"), HasSubstr("0 Hz is not a pitch"));
  EXPECT_THAT(fault("0,-5,1\n"), HasSubstr("-5 Hz is not a pitch"));
  EXPECT_THAT(fault("0,220,-0.1\n"), HasSubstr("negative"));
  EXPECT_THAT(fault("\n"), HasSubstr("has no notes"));
  EXPECT_THAT(fault("0,220\n"), HasSubstr("hint: the columns are"));
  EXPECT_EQ(code_of([&] { read_annotation(folder_ / "none.csv"); }), ExitCode::kNoInput);
}

TEST_F(Annotation, PitchCurvesAreRowsOfTimeAndPitch) {
  const auto track = read_pitch_curve(file("a_f0.csv", "0.0,0.0\n0.0058,220.5\r\n\n0.0116,-3"));
  EXPECT_THAT(track.time_s, ElementsAre(0, 0.0058, 0.0116));
  EXPECT_THAT(track.hz, ElementsAre(0, 220.5, 0));
  EXPECT_THAT(track.voiced, ElementsAre(false, true, false));
  const std::pair<const char*, const char*> faults[] = {
      {"0,220\n1,220,1\n", "b_f0.csv: line 2: expected 2 numbers"},
      {"time,pitch\n", "line 1: 'time' is not a number"},
      {"-1,220\n", "-1 s is before zero"},
      {"0,220\n1,220\n1,221\n", "line 3: 1 s is not after the row before"},
      {"\n", "has no rows"},
      {"0\n", "hint: the columns are time in s, pitch in Hz"}};
  for (const auto& [rows, message] : faults) {
    const auto read = [path = file("b_f0.csv", rows)] { read_pitch_curve(path); };
    EXPECT_EQ(code_of(read), ExitCode::kBadData) << rows;
    EXPECT_THAT(message_of(read), HasSubstr(message));
  }
}

TEST_F(Annotation, IsToldFromNotesOfHum) {
  EXPECT_TRUE(is_annotation(file("a.csv", "\r\n0.5,220,0.25\r\n1,146,1,9\n")));
  EXPECT_TRUE(is_annotation(file("a.CSV", "onset,pitch,duration")));
  EXPECT_FALSE(is_annotation(file("b.csv", "start_time_s,end_time_s,pitch_midi,velocity\n")));
  EXPECT_FALSE(is_annotation(file("c.csv", "")));
  EXPECT_FALSE(is_annotation(folder_ / "none.mid"));
}

TEST_F(Annotation, FilesBelongToTheRecordingTheyAreNamedAfter) {
  for (const char* name :
       {"take.wav", "take_1.wav", "take_1_notesA2.csv", "take_1_notesA1.csv", "take_1_f0.csv",
        "take_10.wav", "take_10.csv", "take_2.wav", "metadata.csv", "take_1.txt"}) {
    file(name, "");
  }
  const auto recordings = annotated_recordings(folder_.path());
  ASSERT_EQ(recordings.size(), 2U);
  EXPECT_EQ(recordings[0].sound.filename(), "take_1.wav");
  EXPECT_THAT(recordings[0].annotations, ElementsAre(folder_.path() / "take_1_notesA1.csv",
                                                     folder_.path() / "take_1_notesA2.csv"));
  EXPECT_EQ(recordings[1].sound.filename(), "take_10.wav");
  EXPECT_THAT(recordings[1].annotations, ElementsAre(folder_.path() / "take_10.csv"));
}

TEST_F(Annotation, AFolderWithoutAnnotatedRecordingsIsAnErrorWithAHint) {
  file("take.wav", "");
  file("take_f0.csv", "");
  const auto list = [&] { annotated_recordings(folder_.path()); };
  EXPECT_EQ(code_of(list), ExitCode::kNoInput);
  EXPECT_THAT(message_of(list), HasSubstr("hint: it needs files such as take.wav"));
  const auto missing = [&] { annotated_recordings(folder_ / "none"); };
  EXPECT_EQ(code_of(missing), ExitCode::kNoInput);
  EXPECT_THAT(message_of(missing), HasSubstr("hint: it needs files"));
}

}  // namespace
}  // namespace hum::eval
