// Files, folders, pipes and terminals that once gave trouble: a table of commands that are refused,
// and what works although it looks wrong.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "audio/io.h"
#include "audio/notes.h"
#include "audio/test_signal.h"
#include "base/files.h"
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
using testing::StartsWith;

// A refused command line. "@" stands for the test's folder.
struct Refusal {
  const char* what;
  std::vector<std::string> command;
  int code;
  const char *message, *hint;
  const char *in = "", *out = "";  // RunOptions
};

const std::vector<Refusal> kRefusals = {
    {"a loop of links as a recording",
     {"notes", "@/loop.wav"},
     66,
     "@/loop.wav: Too many levels of symbolic links",
     "check the name of the recording"},
    {"a folder as a recording", {"notes", "@/top"}, 66, "@/top: is not a file", "give a sound file"},
    {"a folder with recordings only in its subfolders",
     {"generate", "@/top", "--preset", "violin", "-o", "@/out", "--weights", "@/weights"},
     66,
     "@/top: holds no recordings",
     "its subfolders do, below/a.wav for example: add --recursive"},
    {"a folder without recordings, and all below it",
     {"generate", "@/weights", "--preset", "violin", "-o", "@/out", "--weights", "@/weights"},
     66,
     "holds no recordings",
     "hum reads wav, flac, ogg and mp3"},
    {"an empty stdin", {"notes", "-"}, 65, "stdin: is empty", "record or copy it again", "/dev/null"},
    {"text on stdin",
     {"notes", "-"},
     65,
     "stdin: not a sound file that hum reads",
     "ffmpeg -i FILE out.wav",
     "@/text.csv"},
    {"stdin for two things",
     {"generate", "-", "--timbre", "-", "-o", "@/out.wav"},
     2,
     "stdin can be read only once",
     "name a file for the others"},
    {"a sound and a report on stdout",
     {"generate", "@/a.wav", "--preset", "violin", "-o", "-", "--json"},
     2,
     "-o - and --json both write to stdout",
     "leave one of them out"},
    {"notes and a report on stdout",
     {"notes", "@/a.wav", "-o", "-", "--json"},
     2,
     "-o - and --json both write to stdout",
     "leave one of them out"},
    {"several sounds on stdout",
     {"generate", "@/a.wav", "--preset", "violin", "-o", "-", "--takes", "2"},
     2,
     "stdout takes one sound",
     "-o out.wav"},
    {"a stream to a full disk",
     {"generate", "@/a.wav", "--preset", "violin", "--stream", "--weights", "@/weights", "--fast"},
     73,
     "cannot write the stream: No space left on device",
     "free some disk space",
     "",
     "/dev/full"},
    {"a sound to a full disk",
     {"generate", "@/a.wav", "--preset", "violin", "-o", "-", "--weights", "@/weights", "--fast"},
     73,
     "cannot write the sound: No space left on device",
     "free some disk space",
     "",
     "/dev/full"},
    {"a table to a full disk",
     {"notes", "@/a.wav"},
     73,
     "cannot write to stdout",
     "check that the disk is not full",
     "",
     "/dev/full"},
    {"an mp3 without its second half",
     {"notes", "@/half.mp3"},
     65,
     "@/half.mp3: the file is truncated",
     "the end is missing"},
    {"an mp3 without its first frame",
     {"notes", "@/start.mp3"},
     65,
     "truncated",
     "hint: "},
    {"a constant level",
     {"notes", "@/level.wav"},
     65,
     "@/level.wav: is silent, at a constant level of 0.25",
     "check the microphone"},
    {"a sound among devices",
     {"generate", "@/a.wav", "--preset", "violin", "-o", "/dev/hum-e2e.wav"},
     73,
     "/dev/hum-e2e.wav: hum writes no files among devices",
     "-o - writes to stdout"},
    {"a folder among devices",
     {"arrange", "@/a.wav", "--preset", "violin", "-o", "/dev/hum-e2e"},
     73,
     "/dev/hum-e2e: hum writes no files among devices",
     "name a file elsewhere"},
    {"a device as an output",
     {"notes", "@/a.wav", "-o", "@/null.mid"},
     73,
     "/dev/null: is a device or a pipe",
     "-o - writes to stdout"},
    {"an annotation with words",
     {"evaluate", "notes", "@/text.csv", "@/text.csv"},
     65,
     "line 1: 'onset' is not a number",
     "the columns are onset in s, pitch in Hz, duration in s"},
    {"weights with a flipped bit",
     {"generate", "@/a.wav", "--preset", "violin", "-o", "@/out.wav", "--weights", "@/flipped"},
     65,
     "codec/model.safetensors: is not the file that SHA256SUMS describes",
     "copy or download the weights again"}};

class FileCases : public Program {
 protected:
  FileCases() { write_tiny_weights(folder_ / "weights"); }

  std::string at_folder(std::string text) const {
    if (const size_t at = text.find('@'); at != std::string::npos) text.replace(at, 1, path(""));
    if (const size_t twice = text.find("//"); twice != std::string::npos) text.erase(twice, 1);
    return text;
  }
  Outcome generate(std::vector<std::string> words, const RunOptions& options = {}) const {
    words.insert(words.begin(), {"generate", "--preset", "violin", "--fast", "--weights",
                                 path("weights")});
    return run_hum(words, options);
  }
  // The files of the rows above.
  void write_files() const {
    write_hum("a.wav");
    fs::create_directories(folder_ / "top/below");
    fs::copy_file(folder_ / "a.wav", folder_ / "top/below/a.wav");
    fs::create_symlink(folder_ / "loop.wav", folder_ / "loop.wav");
    fs::create_symlink("/dev/null", folder_ / "null.mid");
    write("text.csv", "onset,pitch,duration\n");
    write_sound("level.wav", std::vector<float>(44100, 0.25F), 22050);
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

TEST_F(FileCases, AreRefusedWithAMessageAndAHint) {
  write_files();
  const auto before = files();
  for (const Refusal& row : kRefusals) {
    SCOPED_TRACE(row.what);
    std::vector<std::string> command;
    for (const auto& word : row.command) command.push_back(at_folder(word));
    const auto run = run_hum(command, {.in = at_folder(row.in), .out = row.out});
    EXPECT_EQ(run.code, row.code) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("hum: error: "), HasSubstr(at_folder(row.message)),
                               HasSubstr("\nhint: "), HasSubstr(row.hint)));
    EXPECT_THAT(run.err, AllOf(Not(HasSubstr("does not exist")), Not(HasSubstr("mpg123"))));
    if (row.code == 65) {  // nothing that a library prints
      EXPECT_THAT(run.err, StartsWith("hum: error: "));
      EXPECT_EQ(std::ranges::count(run.err, '\n'), 2) << run.err;
    }
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(files(), before);
  }
  EXPECT_FALSE(fs::exists("/dev/hum-e2e.wav"));
  EXPECT_FALSE(fs::exists("/dev/hum-e2e"));
}

TEST_F(FileCases, OneBadEntryOfAFolderDoesNotStopTheOthers) {
  fs::create_directories(folder_ / "takes");
  write_hum("takes/take.wav");
  audio::write_audio(folder_ / "takes/take.mp3", audio::read_audio(folder_ / "takes/take.wav"));
  fs::create_symlink(folder_ / "takes/loop.wav", folder_ / "takes/loop.wav");
  const auto run = generate({path("takes"), "-o", path("out")});
  EXPECT_EQ(run.code, 66);
  EXPECT_THAT(run.err, AllOf(HasSubstr("loop.wav: Too many levels of symbolic links"),
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
  const auto run = generate({path("top"), "--recursive", "-o", path("out")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 of 2 recordings were played"));
  EXPECT_TRUE(fs::exists(folder_ / "out/one/a-violin.wav"));
  EXPECT_TRUE(fs::exists(folder_ / "out/one/two/a-violin.wav"));
}

TEST_F(FileCases, NotesComeFromStdinAndGoToStdout) {
  const std::string hum = write_hum("a.wav");
  const auto file = run_hum({"notes", hum, "-o", path("a.json")});
  ASSERT_EQ(file.code, 0) << file.err;
  const auto piped = run_hum({"notes", "-", "-o", "-", "--format", "json"}, {.in = hum});
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, read("a.json"));
  EXPECT_THAT(piped.err, HasSubstr("stdout: "));
  const auto midi = run_hum({"notes", "-", "-o", "-"}, {.in = hum});
  EXPECT_EQ(midi.out.substr(0, 4), "MThd");
  EXPECT_THAT(files(), ElementsAre("a.json", "a.wav", "weights"));
}

TEST_F(FileCases, SoundsComeFromStdinAndGoToStdout) {
  const std::string hum = write_hum("a.wav");
  ASSERT_EQ(generate({hum, "-o", path("out.wav")}).code, 0);
  const auto piped = generate({"-", "-o", "-"}, {.in = hum});
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, read("out.wav"));
  EXPECT_THAT(piped.err, HasSubstr("s of sound in"));
  const auto flac = generate({"-", "-o", "-", "--format", "flac"}, {.in = hum});
  EXPECT_EQ(flac.out.substr(0, 4), "fLaC");
  EXPECT_THAT(files(), ElementsAre("a.wav", "out.wav", "weights"));
}

TEST_F(FileCases, AStreamShowsNoProgress) {
  const auto run = generate({write_hum("a.wav", 12), "--stream"});
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
  const std::string hum = write_hum("a.wav");
  for (const auto& flags : std::vector<std::vector<std::string>>{{"--stream"}, {"-o", "-"}}) {
    auto words = flags;
    words.insert(words.begin(), hum);
    const auto run = generate(words, {.out = terminal.name()});
    EXPECT_EQ(run.code, 2) << flags[0];
    EXPECT_THAT(run.err, AllOf(HasSubstr("would be written to a terminal"), HasSubstr("| aplay")));
  }
  const auto midi = run_hum({"notes", hum, "-o", "-"}, {.out = terminal.name()});
  EXPECT_EQ(midi.code, 2) << midi.err;
  const auto typed = run_hum({"notes", "-"}, {.in = terminal.name()});
  EXPECT_EQ(typed.code, 2);
  EXPECT_THAT(typed.err, AllOf(HasSubstr("stdin is a terminal"), HasSubstr("cat hum.wav |")));
}

TEST_F(FileCases, OppositePhaseIsHeardThroughOneChannel) {
  const std::string hum = write_hum("a.wav");
  const auto mono = audio::read_audio(hum);
  audio::AudioBuffer stereo{mono.rate_hz, 2, {}};
  for (const float x : mono.samples) stereo.samples.insert(stereo.samples.end(), {x, -x});
  audio::write_audio(folder_ / "b.wav", stereo, audio::SampleFormat::kFloat);
  const auto run = run_hum({"notes", path("b.wav"), "-o", path("b.json")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: " + path("b.wav") + ": the channels are in opposite"));
  ASSERT_EQ(run_hum({"notes", hum, "-o", path("a.json")}).code, 0);
  EXPECT_EQ(read("a.json"), read("b.json"));
}

TEST_F(FileCases, NothingIsCreatedInAHomeThatDoesNotExist) {
  const fs::path home = folder_ / "nobody";
  const auto run = run_hum({"notes", write_hum("a.wav"), "-o", path("a.mid")},
                           {.environment = {{"HUM_CACHE", ""},
                                            {"XDG_CACHE_HOME", ""},
                                            {"HOME", home.string()}}});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("HUM_CACHE"));
  EXPECT_FALSE(fs::exists(home));
}

TEST_F(FileCases, NotesAreJudgedByAnAnnotationInCents) {
  write("true.csv", "0,220,0.5\n1,440,0.5\n");
  write("heard.json", R"({"notes": [{"start": 0.01, "end": 0.5, "pitch": 57, "hz": 221.3},
                                    {"start": 1.02, "end": 1.5, "pitch": 69, "hz": 459}]})");
  const auto run = run_hum({"evaluate", "notes", path("true.csv"), path("heard.json"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json score = parse_json(run.out);
  EXPECT_EQ(score["judged_by"], "sung pitch");
  EXPECT_EQ(score["matched"], 1);  // the other is 73 cents sharp
  EXPECT_NEAR(score["median_error_cents"], 10.2, 0.1);
  EXPECT_NEAR(score["median_error_ms"], 10, 0.1);
  const auto text = run_hum({"evaluate", "notes", path("true.csv"), path("heard.json")});
  EXPECT_THAT(text.out, HasSubstr("10 ms, 10 cents of the sung pitch"));
}

}  // namespace
}  // namespace hum::e2e
