// Files, folders, pipes and terminals that once gave trouble. First a table of commands that are
// refused, each run by a shell in a folder that holds the files of write_inputs(); then what works
// although it looks wrong.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "audio/io.h"
#include "audio/notes.h"
#include "audio/test_signal.h"
#include "base/json.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// clang-format off
const Case kCases[] = {
    // Folders.
    {"hum notes loop.wav", 66, "loop.wav: Too many levels of symbolic links", "check the name of the recording"},
    {"hum notes top", 66, "top: is not a file", "give a sound file, or - to read one from stdin"},
    {"$GENERATE top -o out", 66, "top: holds no recordings", "its subfolders do, below/a.wav for example: add --recursive"},
    {"$GENERATE weights -o out", 66, "weights: holds no recordings", "hum reads wav, flac, ogg, mp3, m4a and webm"},
    {"$GENERATE top a.wav --recursive -o out.wav", 2, "out.wav names a file", "-o out"},
    {"$GENERATE a.wav -o out.wav --format flac", 2, "--format flac does not fit the name out.wav", "-o out.flac"},
    {"$GENERATE a.wav a.wav -o out", 2, "two outputs would be named", "separate folders"},

    // stdin and stdout.
    {"hum notes - < /dev/null", 65, "stdin: is empty", "record or copy it again"},
    {"hum notes - < text.csv", 65, "stdin: not a sound file that hum reads", "ffmpeg -i FILE out.wav"},
    {"head -c 20000 a.wav | hum notes -", 65, "stdin: the file is truncated", "the end is missing"},
    {"hum generate - --timbre - -o out.wav", 2, "stdin can be read only once", "name a file for the others"},
    {"hum generate a.wav --timbre - - -o out.wav", 2, "stdin can be read only once", "name a file for the others"},
    {"$GENERATE a.wav -o - --json", 2, "-o - and --json both write to stdout", "leave one of them out"},
    {"hum notes a.wav -o - --json", 2, "-o - and --json both write to stdout", "leave one of them out"},
    {"$GENERATE a.wav -o - --lm --takes 2", 2, "stdout takes one sound", "-o out.wav"},
    {"$GENERATE a.wav b.wav -o -", 2, "several recordings need a folder", "-o sounds/"},
    {"$GENERATE a.wav -o - --bits float --format flac", 2, "flac cannot hold float samples", "--bits 24"},
    {"$GENERATE a.wav --stream > /dev/full", 73, "cannot write the stream: No space left on device", "free some disk space"},
    {"$GENERATE a.wav -o - > /dev/full", 73, "cannot write the sound: No space left on device", "free some disk space"},
    {"hum notes a.wav -o - > /dev/full", 73, "cannot write the notes: No space left on device", "free some disk space"},
    {"hum notes a.wav > /dev/full", 73, "cannot write to stdout: No space left on device", "free some disk space"},

    // Sound files.
    {"hum notes half.mp3", 65, "half.mp3: the file is truncated", "the end is missing"},
    {"hum notes start.mp3", 65, "truncated", "hint: "},
    {"hum notes words.mp3", 65, "words.mp3: not a sound file that hum reads", "ffmpeg -i FILE out.wav"},
    {"hum notes zero.wav", 65, "zero.wav: not a sound file that hum reads: its header states a rate of 0 Hz", "ffmpeg"},
    {"hum notes level.wav", 65, "level.wav: is silent, at a constant level of 0.25", "check the microphone"},

    // Songs.
    {"$REMIX words.mp3 -o out.wav", 65, "words.mp3: not a sound file that hum reads", "ffmpeg"},
    {"$REMIX a.wav -o out.wav --max-seconds 2", 65, "a.wav: 4.0 s long, the limit is 2 s", "raise --max-seconds"},
    {"$REMIX a.wav -o out.wav --timbre b.wav", 2, "--preset and --timbre cannot be combined", "--preset violin"},
    {"$REMIX a.wav -o out.wav --vocals own", 66, "these weights have no separator", "hum remix SONG --stem vocals --vocals spleeter"},
    {"$REMIX a.wav -o top/none/out.wav", 73, "top/none", ""},
    {"$REMIX - -o out.wav < /dev/null", 65, "stdin: is empty", "record or copy it again"},
    {"hum remix a.wav --preset violin -o out.wav --weights wieghts", 66, "wieghts: no such folder", "did you mean weights?"},

    // Several recordings of one timbre.
    {"$IMITATE b.wav ./b.wav -o out/", 2, "--timbre names ./b.wav twice", "give each recording once"},
    {"$IMITATE b.wav none.wav -o out/", 66, "none.wav: no such file", "check the name of the recording"},
    {"$IMITATE b.wav level.wav -o out/", 65, "level.wav: is silent", "record it again"},
    {"$IMITATE b.wav brief.wav -o out/", 65, "brief.wav: 0.20 s of sound is too little", "use a recording with 1 s of sound or more"},
    {"$IMITATE $(seq -f c%g.wav 31) -o out/", 2, "--timbre takes at most 30 recordings, not 31", "from low to high notes"},
    {"$IMITATE b.wav whole.mp3 -o whole.mp3", 2, "whole.mp3 is an input and would be overwritten", "choose another output"},

    // Places where nothing is created.
    {"$GENERATE a.wav -o /dev/hum-e2e.wav", 73, "/dev/hum-e2e.wav: hum writes no files among devices", "-o - writes to stdout"},
    {"hum arrange a.wav --preset violin -o /dev/hum-e2e", 73, "/dev/hum-e2e: hum writes no files among devices", "name a file elsewhere"},
    {"hum notes a.wav -o null.mid", 73, "/dev/null: is a device or a pipe", "-o - writes to stdout"},

    // Weights.
    {"hum generate a.wav --preset violin -o out.wav --weights wieghts", 66, "wieghts: no such folder", "did you mean weights? a folder of weights holds a folder of each model"},
    {"hum notes a.wav --voice --weights wieghts/", 66, "wieghts/: no such folder", "did you mean weights?"},
    {"hum notes a.wav --voice --weights loop.wav", 66, "loop.wav: Too many levels of symbolic links", "a folder of weights holds"},
    {"hum notes a.wav --voice --weights a.wav", 66, "a.wav: is not a folder", "a folder of weights holds"},
    {"HUM_WEIGHTS=wieghts hum presets", 66, "wieghts: no such folder", "did you mean weights?"},
    {"hum generate a.wav --preset violin -o out.wav --weights top", 66, "top/codec: no such folder", "--weights or HUM_WEIGHTS names it"},

    // Other files.
    {"hum evaluate notes text.csv text.csv", 65, "text.csv: line 1: 'onset' is not a number", "onset in s, pitch in Hz, duration in s"},
    {"hum train loop.wav", 66, "loop.wav: Too many levels of symbolic links", "a YAML file"},
    {"hum model check loop.wav", 66, "loop.wav: Too many levels of symbolic links", "a YAML file"},
    {"hum generate a.wav --preset violin -o out.wav --weights flipped", 65, "codec/model.safetensors: is not the file that SHA256SUMS describes", "copy or download the weights again"},
};
// clang-format on

const std::string kSetup =
    "GENERATE='hum generate --preset violin --weights weights'; "
    "REMIX='hum remix --preset violin --weights weights'; "
    "IMITATE='hum generate a.wav --weights weights --timbre'; ";

class FileCases : public Program {
 protected:
  FileCases() { write_tiny_weights(folder_ / "weights"); }

  Outcome shell(const std::string& line) const {
    return run_shell(kSetup + line, {.environment = {{"HUM_LOG", "warn"}}, .folder = folder_});
  }
  // The files of the rows above.
  void write_inputs() const {
    write_hum("a.wav");
    write_hum("b.wav");
    fs::create_directories(folder_ / "top/below");
    fs::copy_file(folder_ / "a.wav", folder_ / "top/below/a.wav");
    fs::create_symlink("loop.wav", folder_ / "loop.wav");
    fs::create_symlink("/dev/null", folder_ / "null.mid");
    write("text.csv", "onset,pitch,duration\n");
    write("words.mp3", "these are words, and there are some of them, but no sound");
    write_sound("level.wav", std::vector<float>(44100, 0.25F), 22050);
    std::string zero = read("a.wav");
    zero.replace(24, 4, 4, '\0');  // the rate, in the header of a wav file
    write("zero.wav", zero);
    write_sound("brief.wav", audio::tone(220, 0.2, 22050), 22050);
    audio::write_audio(folder_ / "whole.mp3", audio::read_audio(folder_ / "a.wav"));
    const std::string mp3 = read("whole.mp3");
    write("half.mp3", mp3.substr(0, mp3.size() / 2));
    write("start.mp3", mp3.substr(0, 60));
    fs::copy(folder_ / "weights", folder_ / "flipped", fs::copy_options::recursive);
    std::string codec = read("flipped/codec/model.safetensors");
    codec.back() = static_cast<char>(codec.back() ^ 1);
    write("flipped/codec/model.safetensors", codec);
  }
};

TEST_F(FileCases, EveryErrorNamesTheFaultAndARemedyAndLeavesNoFile) {
  write_inputs();
  expect_cases(kCases, kSetup);
  EXPECT_FALSE(fs::exists("/dev/hum-e2e.wav"));
  EXPECT_FALSE(fs::exists("/dev/hum-e2e"));
}

TEST_F(FileCases, OneBadEntryOfAFolderDoesNotStopTheOthers) {
  fs::create_directories(folder_ / "takes");
  write_hum("takes/take.wav");
  audio::write_audio(folder_ / "takes/take.mp3", audio::read_audio(folder_ / "takes/take.wav"));
  fs::create_symlink("loop.wav", folder_ / "takes/loop.wav");
  const auto run = shell("$GENERATE takes -o out");
  EXPECT_EQ(run.code, 66);
  EXPECT_THAT(run.err, AllOf(HasSubstr("takes/loop.wav: Too many levels of symbolic links"),
                             HasSubstr("2 of 3 recordings were played")));
  for (const char* name : {"take-mp3-violin.wav", "take-wav-violin.wav"}) {
    EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
  }
}

TEST_F(FileCases, SubfoldersArePlayedIntoSubfolders) {
  fs::create_directories(folder_ / "top/one/two");
  write_hum("top/one/a.wav");
  write_hum("top/one/two/a.wav");
  fs::create_directory_symlink(folder_ / "top", folder_ / "top/one/again");
  const auto run = shell("$GENERATE top --recursive -o out");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 of 2 recordings were played"));
  EXPECT_TRUE(fs::exists(folder_ / "out/one/a-violin.wav"));
  EXPECT_TRUE(fs::exists(folder_ / "out/one/two/a-violin.wav"));
}

TEST_F(FileCases, NotesComeFromStdinAndGoToStdout) {
  write_hum("a.wav");
  ASSERT_EQ(shell("hum notes a.wav -o a.json").code, 0);
  const auto piped = shell("cat a.wav | hum notes - -o - --format json");
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, read("a.json"));
  EXPECT_THAT(piped.err, HasSubstr("stdout: "));
  EXPECT_EQ(shell("hum notes - -o - < a.wav").out.substr(0, 4), "MThd");
  EXPECT_THAT(files(), ElementsAre("a.json", "a.wav", "weights"));
}

TEST_F(FileCases, SoundsComeFromStdinAndGoToStdout) {
  write_hum("a.wav");
  ASSERT_EQ(shell("$GENERATE a.wav -o out.wav").code, 0);
  const auto piped = shell("cat a.wav | $GENERATE - -o -");
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, read("out.wav"));
  EXPECT_THAT(piped.err, HasSubstr("s of sound in"));
  EXPECT_EQ(shell("$GENERATE - -o - --format flac < a.wav").out.substr(0, 4), "fLaC");
  EXPECT_THAT(files(), ElementsAre("a.wav", "out.wav", "weights"));
}

TEST_F(FileCases, AStreamShowsNoProgress) {
  write_hum("a.wav", 12);
  const auto run = shell("HUM_LOG=info $GENERATE a.wav --stream");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.substr(0, 4), "RIFF");
  EXPECT_THAT(run.err, Not(HasSubstr("generating")));
}

// A terminal that nobody looks at.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    grantpt(master_);
    unlockpt(master_);
    if (const char* name = ptsname(master_)) name_ = name;
  }
  ~Terminal() {
    if (master_ >= 0) close(master_);
  }
  const std::string& name() const { return name_; }

 private:
  int master_;
  std::string name_;
};

TEST_F(FileCases, TerminalsGetNoSoundAndGiveNone) {
  const Terminal terminal;
  if (terminal.name().empty()) GTEST_SKIP() << "no pseudo-terminals here";
  write_hum("a.wav");
  for (const auto& [line, hint] : {std::pair("$GENERATE a.wav --stream", "| aplay"),
                                   std::pair("$GENERATE a.wav -o -", "| aplay"),
                                   std::pair("hum notes a.wav -o -", "> melody.mid")}) {
    const auto run = shell(line + std::string(" > ") + terminal.name());
    EXPECT_EQ(run.code, 2) << line;
    EXPECT_THAT(run.err, AllOf(HasSubstr("would be written to a terminal"), HasSubstr(hint)));
  }
  const auto typed = shell("hum notes - < " + terminal.name());
  EXPECT_EQ(typed.code, 2);
  EXPECT_THAT(typed.err, AllOf(HasSubstr("stdin is a terminal"), HasSubstr("cat hum.wav |")));
}

TEST_F(FileCases, OppositePhaseIsHeardThroughOneChannel) {
  const auto mono = audio::read_audio(write_hum("a.wav"));
  audio::AudioBuffer stereo{mono.rate_hz, 2, {}};
  for (const float x : mono.samples) stereo.samples.insert(stereo.samples.end(), {x, -x});
  audio::write_audio(folder_ / "b.wav", stereo, audio::SampleFormat::kFloat);
  const auto run = shell("hum notes a.wav -o a.json && hum notes b.wav -o b.json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: b.wav: the channels are in opposite phase"));
  EXPECT_EQ(read("a.json"), read("b.json"));
}

TEST_F(FileCases, NotesAreJudgedByAnAnnotationInCents) {
  write("true.csv", "0,220,0.5\n1,440,0.5\n");
  write("heard.json", R"({"notes": [{"start": 0.01, "end": 0.5, "pitch": 57, "hz": 221.3},
                                    {"start": 1.02, "end": 1.5, "pitch": 69, "hz": 459}]})");
  const auto run = shell("hum evaluate notes true.csv heard.json --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json score = parse_json(run.out);
  EXPECT_EQ(score["judged_by"], "sung pitch");
  EXPECT_EQ(score["matched"], 1);  // the other is 73 cents sharp
  EXPECT_NEAR(score["median_error_cents"], 10.2, 0.1);
  EXPECT_NEAR(score["median_error_ms"], 10, 0.1);
  EXPECT_THAT(shell("hum evaluate notes true.csv heard.json").out,
              HasSubstr("10 ms, 10 cents of the sung pitch"));
}

TEST_F(FileCases, ListeningAnswersAreSummedUp) {
  const auto answers = [](const char* listener, int reference, int hum) {
    return fmt::format(R"({{"test": "a1", "listener": "{}", "seed": 1, "trials": [
        {{"clip": "a", "scores": {{"hidden reference": {}, "hum": {}}}}},
        {{"clip": "b", "scores": {{"hidden reference": 100, "hum": 50}}}}]}})",
                       listener, reference, hum);
  };
  write("anna.json", answers("anna", 98, 60));
  write("ben.json", answers("ben", 40, 100));
  const auto run = shell("hum evaluate listening anna.json ben.json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out,
            "2 listeners, 1 excluded\n"
            "excluded: ben rated the hidden reference below 90 in 1 of 2 trials\n"
            "system            mean  95 % interval  median  scores\n"
            "hidden reference  99.0  86.3 to 111.7  99.0    2\n"
            "hum               55.0  -8.5 to 118.5  55.0    2\n");
  const Json report = parse_json(shell("hum evaluate listening anna.json ben.json --json").out);
  EXPECT_EQ(report["listeners"][1]["excluded"], true);
  EXPECT_EQ(report["systems"][1]["mean"], 55);
  EXPECT_THAT(shell("hum evaluate listening ben.json").out, HasSubstr("no listener is left"));
  expect_error(shell("hum evaluate listening anna.json none.json"), 66, "none.json: no such file");
  expect_error(shell("hum evaluate listening anna.json anna.json"), 65,
               "anna.json: holds the same answers as anna.json", "give each file once");
  write("other.json", R"({"notes": []})");
  expect_error(shell("hum evaluate listening other.json"), 65, "other.json: the file has no 'test'",
               "listening.html");
}

}  // namespace
}  // namespace hum::e2e
