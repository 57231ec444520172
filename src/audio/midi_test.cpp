#include "audio/midi.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "audio/notes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/rng.h"

namespace hum::audio {
namespace {
namespace fs = std::filesystem;

fs::path data_folder() { return source_folder() / "tests/data/audio"; }
Json golden() { return read_json(data_folder() / "midi.json"); }

std::vector<Note> golden_notes() {
  std::vector<Note> notes;
  const Json all = golden();
  for (const Json& n : all["notes"]) {
    notes.push_back({n["start"], n["end"], n["pitch"], n["amplitude"], n["bends"]});
  }
  return notes;
}

class NoteFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  ExitCode code_of_reading(const fs::path& path) const {
    try {
      read_notes(path);
    } catch (const Error& error) {
      message_ = error.what();
      return error.code();
    }
    return ExitCode::kOk;
  }
  fs::path folder_ = fs::path(::testing::TempDir()) / ("hum-notes-" + std::to_string(::getpid()));
  mutable std::string message_;
};

TEST(Midi, IsByteForByteWhatBasicPitchWrites) {
  EXPECT_TRUE(format_midi(golden_notes()) == read_file(data_folder() / "notes_120bpm.mid"));
}

TEST(Midi, MultiplePitchBendsGiveEachPitchItsTrack) {
  const NoteFileOptions options{.tempo_bpm = 96, .multiple_pitch_bends = true};
  EXPECT_TRUE(format_midi(golden_notes(), options) ==
              read_file(data_folder() / "notes_96bpm_multiple.mid"));
}

TEST(Midi, NotesSurviveARoundTrip) {
  for (const bool multiple : {false, true}) {
    const auto notes = multiple ? golden_notes() : drop_overlapping_bends(golden_notes());
    const MidiSong song = parse_midi(
        format_midi(notes, {.tempo_bpm = 140, .multiple_pitch_bends = multiple, .program = 40}));
    EXPECT_EQ(song.ticks_per_beat, 220);
    ASSERT_EQ(song.tempos.size(), 1u);
    EXPECT_NEAR(song.tempos[0].tempo_bpm, 140, 1e-3);
    EXPECT_EQ(song.parts[0].program, 40);
    const auto read = melodic_notes(song);
    ASSERT_EQ(read.size(), notes.size());
    for (size_t i = 0; i < notes.size(); ++i) {
      EXPECT_NEAR(read[i].start_s, notes[i].start_s, 0.001);
      EXPECT_NEAR(read[i].end_s, notes[i].end_s, 0.001);
      EXPECT_EQ(read[i].pitch, notes[i].pitch);
      EXPECT_NEAR(read[i].amplitude, notes[i].amplitude, 0.004);
      std::vector<int> clipped = notes[i].bends;
      for (int& bend : clipped) bend = std::clamp(bend, -6, 6);
      EXPECT_EQ(read[i].bends, clipped) << "note " << i;
    }
  }
}

TEST(Midi, ASongHasATrackForEachPart) {
  const std::vector<MidiPart> parts = {
      {.channel = 0, .program = 40, .name = "lead", .notes = {{0.25, 1, 60, 0.8, {0, 3, 6}}}},
      {.channel = 1, .program = 33, .name = "bass", .notes = {{0.25, 2, 36, 0.6, {}}}},
      {.channel = kDrumChannel, .program = 0, .name = "drums", .notes = {{0.25, 0.3, 38, 1, {}}}}};
  const MidiSong song =
      parse_midi(format_midi_song(parts, {.tempo_bpm = 90, .first_beat_s = 0.25}));
  ASSERT_EQ(song.parts.size(), 3u);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(song.parts[i].name, parts[i].name);
    EXPECT_EQ(song.parts[i].channel, parts[i].channel);
    EXPECT_EQ(song.parts[i].program, parts[i].program);
    ASSERT_EQ(song.parts[i].notes.size(), 1u);
    EXPECT_NEAR(song.parts[i].notes[0].start_s, 0.25, 0.002);
    EXPECT_EQ(song.parts[i].notes[0].pitch, parts[i].notes[0].pitch);
  }
  EXPECT_FALSE(song.parts[0].notes[0].bends.empty());
  EXPECT_EQ(melodic_notes(song).size(), 2u);
}

// Notes on the melody's beats fall on the file's beats, as other programs count them.
TEST(Midi, BeatsBeforeTheFirstOneMakeRoomForIt) {
  for (const double first_beat_s : {0.05, 0.3, 0.5, 0.7, 2.2, 127.4, 127.6, 600.3}) {
    const std::vector<Note> notes{{first_beat_s, first_beat_s + 0.4, 60, 0.8, {}},
                                  {first_beat_s + 1, first_beat_s + 1.5, 62, 0.8, {}}};
    const MidiSong song =
        parse_midi(format_midi(notes, {.tempo_bpm = 120, .first_beat_s = first_beat_s}));
    const auto read = melodic_notes(song);
    ASSERT_EQ(read.size(), 2u);
    EXPECT_NEAR(read[0].start_s, first_beat_s, 0.002);
    EXPECT_NEAR(read[1].start_s, first_beat_s + 1, 0.002);
    EXPECT_NEAR(read[1].end_s, first_beat_s + 1.5, 0.002);
    ASSERT_EQ(song.tempos.size(), 2u) << first_beat_s;
    EXPECT_NEAR(song.tempos[1].tempo_bpm, 120, 1e-3);
    // The second tempo begins on a beat, so the notes do.
    EXPECT_NEAR(std::remainder(song.tempos[1].start_s - first_beat_s, 0.5), 0, 0.002);
    const double lead_in_beats = song.tempos[1].start_s * song.tempos[0].tempo_bpm / 60;
    EXPECT_NEAR(lead_in_beats, std::round(lead_in_beats), 1e-3);
    EXPECT_LE(song.tempos[0].tempo_bpm, 480);
    EXPECT_GE(song.tempos[0].tempo_bpm, 80);
  }
}

TEST(Midi, TheKeySignatureStandsInTheTempoTrack) {
  const std::vector<Note> notes = {{0.5, 1, 60, 0.5, {}}};
  const std::string plain = format_midi(notes);
  EXPECT_FALSE(parse_midi(plain).key.has_value());
  for (const KeySignature key : {KeySignature{-3, true}, KeySignature{6, false}}) {
    const std::string keyed = format_midi(notes, {.key = key});
    EXPECT_EQ(keyed.size(), plain.size() + 6);
    EXPECT_EQ(parse_midi(keyed).key, key);
  }
  EXPECT_THROW(format_midi(notes, {.key = KeySignature{8, false}}), Error);
}

TEST(Midi, ANoteWithoutBendsAfterABentOneIsInTune) {
  const std::vector<Note> notes{{0, 0.5, 60, 0.8, std::vector<int>(43, 2)}, {0.5, 1, 62, 0.8, {}}};
  const auto read = melodic_notes(parse_midi(format_midi(notes)));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].bends, notes[0].bends);
  EXPECT_THAT(read[1].bends, ::testing::IsEmpty());
}

TEST(Midi, ForeignFilesAreReadAsPrettyMidiReadsThem) {
  const MidiSong song = parse_midi(read_file(data_folder() / "foreign.mid"));
  EXPECT_EQ(song.tempos.size(), 2u);
  EXPECT_EQ(song.parts[0].name, "two hands");
  size_t count = 0;
  const Json all = golden();
  for (const Json& expected : all["foreign"]) {
    for (const MidiPart& part : song.parts) {
      for (const Note& note : part.notes) {
        if (part.program != expected["program"] || note.pitch != expected["pitch"]) continue;
        ++count;
        EXPECT_NEAR(note.start_s, expected["start"], 1e-9);
        EXPECT_NEAR(note.end_s, expected["end"], 1e-9);
        EXPECT_DOUBLE_EQ(note.amplitude, expected["velocity"].get<double>() / 127);
      }
    }
  }
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(count, all["foreign"].size());
  EXPECT_EQ(melodic_notes(song).size(), count) << "drums are no melody";
}

TEST(Midi, TheWheelsRangeIsHeeded) {
  // Range 12 semitones by RPN 0, then the wheel at +2048 of 8192: 3 semitones.
  const std::string body(
      "\x00\xb0\x65\x00\x00\xb0\x64\x00\x00\xb0\x06\x0c\x00\xe0\x00\x50\x00\x90\x3c\x40\x60\x80\x3c"
      "\x40"
      "\x00\xff\x2f\x00",
      28);
  const std::string file = std::string("MThd\0\0\0\6\0\0\0\1\0\x60MTrk\0\0\0\x1c", 22) + body;
  const auto notes = melodic_notes(parse_midi(file));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_DOUBLE_EQ(notes[0].end_s, 0.5);
  EXPECT_EQ(notes[0].bends, std::vector<int>(43, 9));
  EXPECT_DOUBLE_EQ(pitch_at(notes[0], 0.2), 63);
}

// A file of one track at 96 ticks per beat.
std::string one_track(const std::string& body) {
  return std::string("MThd\0\0\0\6\0\0\0\1\0\x60MTrk\0\0\0", 21) + static_cast<char>(body.size()) +
         body;
}

TEST(Midi, VolumeAndExpressionAreThePartsGain) {
  // Volume 127, a note; expression 64, two notes; a note on a channel without either.
  const std::string body(
      "\x00\xb0\x07\x7f\x00\x90\x3c\x40\x60\x80\x3c\x40"
      "\x00\xb0\x0b\x40\x00\x90\x3c\x40\x60\x80\x3c\x40\x00\x90\x3c\x40\x60\x80\x3c\x40"
      "\x00\x91\x3c\x40\x60\x81\x3c\x40\x00\xff\x2f\x00",
      44);
  const MidiSong song = parse_midi(one_track(body));
  ASSERT_EQ(song.parts.size(), 2u);
  const double soft = std::pow(64 / 127.0, 2);
  EXPECT_NEAR(song.parts[0].gain, (1 + 2 * soft) / 3, 1e-12);
  EXPECT_NEAR(song.parts[1].gain, std::pow(100 / 127.0, 2), 1e-12);
}

TEST(Midi, BarLinesFollowMetersAndTempos) {
  // At 120 bpm: a bar of 3/4, then 4/4. 60 bpm from a beat into that bar on. The note ends six
  // beats later.
  const std::string body(
      "\x00\xff\x58\x04\x03\x02\x18\x08\x00\x90\x3c\x40"
      "\x82\x20\xff\x58\x04\x04\x02\x18\x08\x60\xff\x51\x03\x0f\x42\x40"
      "\x84\x40\x80\x3c\x40\x00\xff\x2f\x00",
      37);
  const MidiSong song = parse_midi(one_track(body));
  ASSERT_EQ(song.meters.size(), 2u);
  EXPECT_EQ(song.meters[0].beats, 3);
  EXPECT_DOUBLE_EQ(song.meters[1].start_s, 1.5);
  const auto near = [](double time_s) { return ::testing::DoubleNear(time_s, 1e-9); };
  EXPECT_THAT(bar_lines(song), ::testing::ElementsAre(0, near(1.5), near(5), near(9)));
  EXPECT_THAT(bar_lines(MidiSong{}), ::testing::IsEmpty());
}

TEST(Midi, EveryTruncationIsRefused) {
  const std::string whole = read_file(data_folder() / "notes_120bpm.mid");
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      const MidiSong song = parse_midi(whole.substr(0, size));
      // Truncated between two chunks, the file is valid but has fewer tracks.
      EXPECT_LT(song.parts.size(), 1u) << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
    }
  }
}

TEST(Midi, DamagedFilesAreReadOrRefusedButNeverCrash) {
  Rng rng(7, "midi damage");
  for (const char* name : {"notes_120bpm.mid", "foreign.mid"}) {
    const std::string whole = read_file(data_folder() / name);
    for (int round = 0; round < 20000; ++round) {
      std::string bytes = whole;
      for (int64_t flips = rng.integer(1, 6); flips > 0; --flips) {
        bytes[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(bytes.size()) - 1))] =
            static_cast<char>(rng.integer(0, 255));
      }
      try {
        for (const Note& note : melodic_notes(parse_midi(bytes))) {
          ASSERT_LT(note.start_s, note.end_s);
          ASSERT_LE(note.amplitude, 1);
        }
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ExitCode::kBadData) << error.what();
      }
    }
  }
}

TEST(Notes, PitchFollowsTheBends) {
  const Note note{1, 2, 60, 0.8, {0, 3, -3}};
  EXPECT_DOUBLE_EQ(pitch_at(note, 1.25), 60.5);
  EXPECT_DOUBLE_EQ(pitch_at(note, 1.5), 61);
  EXPECT_DOUBLE_EQ(pitch_at(note, 1.75), 60);
  EXPECT_DOUBLE_EQ(pitch_at(note, 5), 59);
  EXPECT_DOUBLE_EQ(pitch_at({1, 2, 60, 0.8, {2}}, 1.5), 60 + 2.0 / 3);
  EXPECT_DOUBLE_EQ(midi_to_hz(57), 220);
  EXPECT_DOUBLE_EQ(hz_to_midi(880), 81);
}

TEST_F(NoteFiles, JsonKeepsEverything) {
  const auto notes = golden_notes();
  write_notes(folder_ / "a.json", notes);
  EXPECT_EQ(read_notes(folder_ / "a.json"), notes);
  write_notes(folder_ / "empty.json", {});
  EXPECT_TRUE(read_notes(folder_ / "empty.json").empty());
}

TEST_F(NoteFiles, CsvHasBasicPitchsColumns) {
  const std::vector<Note> notes{{0.25, 1.5, 60, 0.8, {}}, {2, 2.5, 64, 1, {-1, 0, 2}}};
  write_notes(folder_ / "a.csv", notes);
  EXPECT_EQ(read_file(folder_ / "a.csv"),
            "start_time_s,end_time_s,pitch_midi,velocity,pitch_bend\n"
            "0.25,1.5,60,102\n2,2.5,64,127,-1,0,2\n");
  const auto read = read_notes(folder_ / "a.csv");
  EXPECT_EQ(read[1], notes[1]);
  EXPECT_NEAR(read[0].amplitude, 0.8, 0.004);
}

TEST_F(NoteFiles, CsvOfPythonIsRead) {
  const auto read = read_notes(write("p.csv",
                                     "start_time_s,end_time_s,pitch_midi,velocity,pitch_bend\r\n"
                                     "1.0,2.0,61,64\r\n0.5,0.9,60,64,1,1\r\n"));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].pitch, 60) << "notes come in order of their start";
  EXPECT_THAT(read[0].bends, ::testing::ElementsAre(1, 1));
}

TEST_F(NoteFiles, BadFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(code_of_reading(folder_ / "none.mid"), ExitCode::kNoInput);
  EXPECT_EQ(code_of_reading(write("a.txt", "x")), ExitCode::kUsage);
  EXPECT_EQ(code_of_reading(write("a.mid", "RIFFxxxx")), ExitCode::kBadData);
  EXPECT_THAT(message_, ::testing::HasSubstr("a.mid"));
  EXPECT_EQ(code_of_reading(write("a.json", "{\"notes\": [{\"start\": 1}]}")), ExitCode::kBadData);
  EXPECT_THAT(message_, ::testing::HasSubstr("note 1"));
  EXPECT_EQ(code_of_reading(write("b.json", "[]")), ExitCode::kBadData);
  EXPECT_EQ(code_of_reading(write("c.json", R"({"notes": [{"start": 1, "end": 1, "pitch": 60}]})")),
            ExitCode::kBadData);
  EXPECT_EQ(
      code_of_reading(write("d.json", R"({"notes": [{"start": 1, "end": 2, "pitch": 200}]})")),
      ExitCode::kBadData);
  EXPECT_EQ(code_of_reading(write("a.csv", "1,2,60,64\n1,nan,60,64\n")), ExitCode::kBadData);
  EXPECT_THAT(message_, ::testing::HasSubstr("line 2"));
  EXPECT_EQ(code_of_reading(write("b.csv", "1,2,60\n")), ExitCode::kBadData);
  EXPECT_EQ(code_of_reading(write("c.csv", "1,2,60,64,99999\n")), ExitCode::kBadData);
}

}  // namespace
}  // namespace hum::audio
