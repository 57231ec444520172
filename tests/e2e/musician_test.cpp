// What a musician asks of hum generate: tempo and key, many files, takes, a backing, loops,
// pictures, a stream; and hum arrange. On small untrained weights.
#include <algorithm>
#include <cmath>

#include "audio/io.h"
#include "audio/loudness.h"
#include "audio/midi.h"
#include "audio/test_signal.h"
#include "base/json.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Musician : public Program {
 protected:
  Musician() { write_tiny_weights(folder_ / "weights"); }

  Outcome run(const std::string& command, const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {command, "--preset", "flute", "--weights",
                                          path("weights")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return run_hum(arguments);
  }
  Json generate(const std::vector<std::string>& words) {
    auto arguments = words;
    arguments.insert(arguments.end(), {"-o", path("out.wav"), "--json"});
    const auto outcome = run("generate", arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return parse_json(outcome.out);
  }
  // The tempo that holds from the first beat on.
  double tempo_of(const std::string& midi) const {
    return audio::parse_midi(read(midi)).tempos.back().tempo_bpm;
  }
};

TEST_F(Musician, HearsTheTempoAndWritesItWhileTheNotesStay) {
  const std::string hum = write_hum("a.wav", 8);  // a note every 0.6 s
  const Json heard = generate({hum, "--midi", path("a.mid")});
  EXPECT_NEAR(heard["tempo_bpm"], 100, 1.5);
  EXPECT_NEAR(tempo_of("a.mid"), heard["tempo_bpm"], 0.01);
  const Json off = generate({hum, "--tempo", "off", "--midi", path("b.mid")});
  EXPECT_TRUE(off["tempo_bpm"].is_null());
  EXPECT_EQ(off["notes"], heard["notes"]);
  EXPECT_NEAR(tempo_of("b.mid"), 120, 0.01);
  const auto a = audio::read_notes(path("a.mid")), b = audio::read_notes(path("b.mid"));
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i].start_s, b[i].start_s, 0.003);
}

TEST_F(Musician, ATempoThatIsAskedForIsPlayed) {
  const std::string hum = write_hum("a.wav", 8);
  const Json report = generate({hum, "--tempo", "120", "--snap", "1", "--midi", path("a.mid")});
  EXPECT_NEAR(report["stretch"], 100.0 / 120, 0.02);
  EXPECT_NEAR(tempo_of("a.mid"), 120, 0.01);
  const double first_s = report["notes"][0]["start"];
  for (const Json& note : report["notes"]) {
    EXPECT_NEAR(std::remainder(note["start"].get<double>() - first_s, 0.125), 0, 1e-3);
  }
}

TEST_F(Musician, NotesMoveIntoTheKeyThatIsAskedFor) {
  const std::string hum = write_hum("a.wav", 8);  // A B C E D C
  const Json report = generate({hum, "--key", "E:major", "--octave", "0", "--correct", "1"});
  EXPECT_GT(report["moved_to_key"], 4);
  for (const Json& note : report["notes"]) {
    const int step = (note["pitch"].get<int>() - 4) % 12;
    EXPECT_THAT(step, testing::AnyOf(0, 2, 4, 5, 7, 9, 11));
    EXPECT_TRUE(note["bends"].empty());
  }
}

TEST_F(Musician, SeveralRecordingsArePlayedThoughOneIsBroken) {
  fs::create_directories(folder_ / "in");
  write_hum("in/a.wav");
  write("in/b.wav", "this is no sound");
  write_hum("in/c.wav");
  const auto outcome = run(
      "generate", {path("in"), "-o", path("out/"), "--format", "mp3", "--midi", ".mid", "--json"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("in/b.wav"));
  EXPECT_THAT(outcome.err, HasSubstr("2 of 3 recordings were played"));
  const Json reports = parse_json(outcome.out);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[1]["code"], 65);
  for (const char* name : {"out/a-flute.mp3", "out/c-flute.mp3"}) {
    EXPECT_GT(audio::read_audio(path(name)).seconds(), 3);
  }
  EXPECT_TRUE(fs::exists(path("out/c-flute.mid")));
  EXPECT_FALSE(fs::exists(path("out/b-flute.mp3")));
}

TEST_F(Musician, TakesDifferByTheirSeeds) {
  const std::string hum = write_hum("a.wav");
  const auto outcome =
      run("generate", {hum, "-o", path("out.wav"), "--lm", "--takes", "2", "--seed", "5"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("out-1.wav: seed 5"));
  EXPECT_THAT(outcome.out, HasSubstr("out-2.wav: seed 6"));
  EXPECT_NE(read("out-1.wav"), read("out-2.wav"));
  ASSERT_EQ(run("generate", {hum, "-o", path("six.wav"), "--lm", "--seed", "6"}).code, 0);
  EXPECT_EQ(read("six.wav"), read("out-2.wav"));
}

// Nine windows: enough for batches. Tokens are the same; sums run in another order.
TEST_F(Musician, ManyTakesShareBatchesAndAreThoseOfEachSeedAlone) {
  const std::string hum = write_hum("a.wav", 2);
  const std::vector<std::string> flags = {hum, "--lm", "--bits", "float", "-o"};
  auto play = [&](const std::string& out, const std::vector<std::string>& more) {
    auto arguments = flags;
    arguments.push_back(path(out));
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = run("generate", arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  };
  auto apart = [&](const char* a, const char* b) {
    const auto x = audio::read_audio(path(a)).samples, y = audio::read_audio(path(b)).samples;
    float most = x.size() == y.size() ? 0 : 1;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      most = std::max(most, std::abs(x[i] - y[i]));
    }
    return most;
  };
  play("out.wav", {"--takes", "9", "--seed", "5"});
  play("five.wav", {"--seed", "5"});
  play("last.wav", {"--seed", "13"});
  EXPECT_LT(apart("out-1.wav", "five.wav"), 1e-4);
  EXPECT_LT(apart("out-9.wav", "last.wav"), 1e-4);
  EXPECT_GT(apart("out-1.wav", "last.wav"), 1e-3);
}

TEST_F(Musician, LoopsAreWholeBars) {
  const std::string hum = write_hum("a.wav", 8);
  const Json report =
      generate({hum, "--tempo", "100", "--loop", "--rate", "48000", "--midi", path("a.mid")});
  const double bars = report["audio_seconds"].get<double>() / 2.4;
  EXPECT_NEAR(bars, std::round(bars), 1e-4);
  EXPECT_GE(bars, 3);
  for (const auto& note : audio::read_notes(path("a.mid"))) {
    EXPECT_LT(note.start_s, report["audio_seconds"]);
  }
}

TEST_F(Musician, ABackingIsMixedIn) {
  const std::string hum = write_hum("a.wav");
  const std::string song = write_sound("song.wav", audio::tone(110, 9, 48000, 0.1), 48000, 2);
  const Json report = generate({hum, "--backing", song, "--gain", "-3"});
  const auto mixed = audio::read_audio(path("out.wav"));
  EXPECT_EQ(mixed.channels, 2);
  EXPECT_EQ(mixed.rate_hz, 44100);
  EXPECT_NEAR(mixed.seconds(), 9, 0.01);
  EXPECT_NEAR(audio::integrated_lufs(mixed.samples, 44100, 2), -16, 0.5);
  EXPECT_LE(audio::true_peak_dbtp(mixed.samples, 44100, 2), -0.9);
}

TEST_F(Musician, PicturesAreDrawn) {
  const std::string hum = write_hum("a.wav");
  generate({hum, "--picture", path("a.png")});
  EXPECT_EQ(read("a.png").substr(1, 3), "PNG");
  generate({hum, "--picture", path("a.svg")});
  EXPECT_THAT(read("a.svg"), HasSubstr("<rect class=\"note\""));
}

TEST_F(Musician, StreamsAWavAsLongAsTheFileWouldBe) {
  const std::string hum = write_hum("a.wav", 12);
  const auto streamed = run("generate", {hum, "--stream", "--bits", "float"});
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_THAT(streamed.err, HasSubstr("first sound"));
  write("stream.wav", streamed.out);
  const auto sound = audio::read_audio(path("stream.wav"));
  EXPECT_EQ(sound.rate_hz, 44100);
  const Json report = generate({hum});
  EXPECT_NEAR(sound.seconds(), report["audio_seconds"], 1e-3);
}

// It begins with a part of the first window, and must go on as the whole would have.
TEST_F(Musician, AStreamIsTheSameSoundButForItsLevel) {
  const std::string hum = write_hum("a.wav", 12);
  const std::vector<std::string> flags = {hum, "--lm", "--bits", "float"};
  auto streaming = flags;
  streaming.emplace_back("--stream");
  const auto streamed = run("generate", streaming);
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  write("stream.wav", streamed.out);
  generate(flags);
  const auto a = audio::read_audio(path("stream.wav")), b = audio::read_audio(path("out.wav"));
  ASSERT_EQ(a.samples.size(), b.samples.size());
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    ab += static_cast<double>(a.samples[i]) * b.samples[i];
    aa += static_cast<double>(a.samples[i]) * a.samples[i];
    bb += static_cast<double>(b.samples[i]) * b.samples[i];
  }
  EXPECT_GT(ab / std::sqrt(aa * bb), 0.98);
}

TEST_F(Musician, FlagsThatContradictEachOtherAreRefused) {
  const std::string hum = write_hum("a.wav");
  for (const auto& flags :
       std::vector<std::vector<std::string>>{{"--tempo", "fast"},
                                             {"--snap", "2"},
                                             {"--snap", "1", "--tempo", "off"},
                                             {"--key", "H:major"},
                                             {"--swing", "60"},
                                             {"--correct", "2"},
                                             {"--lm", "--strength", "1.5"},
                                             {"--lm", "--strength", "0.2", "--greedy"},
                                             {"--lm", "--strength", "0.2", "--draft", "1"},
                                             {"--lm", "--draft", "2"},
                                             {"--strength", "0.2"},
                                             {"--greedy"},
                                             {"--takes", "2"},
                                             {"--residual", "1.5"},
                                             {"--gain", "3"},
                                             {"--takes", "0"},
                                             {"--loop", "--beats", "0"},
                                             {"--picture", path("a.gif")},
                                             {"--stream"}}) {
    auto arguments = flags;
    arguments.insert(arguments.end(), {hum, "-o", path("out.wav")});
    const auto outcome = run("generate", arguments);
    EXPECT_EQ(outcome.code, 2) << flags[0] << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("hint: ")) << flags[0];
    EXPECT_THAT(files(), ElementsAre("a.wav", "weights"));
  }
}

TEST_F(Musician, StrengthIsTemperatureGuidanceAndDraft) {
  const std::string hum = write_hum("a.wav");
  auto play = [&](const std::string& name, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {hum, "-o", path(name), "--lm"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto outcome = run("generate", arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  };
  play("a1.wav", {"--strength", "0"});
  play("a2.wav", {"--temperature", "0.4", "--guidance", "2", "--draft", "0.8"});
  play("a3.wav", {"--strength", "1"});
  EXPECT_EQ(read("a1.wav"), read("a2.wav"));
  EXPECT_NE(read("a1.wav"), read("a3.wav"));
  play("a4.wav", {"--draft", "1"});
  ASSERT_EQ(run("generate", {hum, "-o", path("draft.wav")}).code, 0);
  EXPECT_EQ(read("a4.wav"), read("draft.wav"));
}

TEST_F(Musician, ABandPlaysUnderTheMelody) {
  const std::string hum = write_hum("a.wav", 10);
  const auto outcome =
      run("arrange", {hum, "-o", path("band"), "--style", "swing", "--bits", "float", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = parse_json(outcome.out);
  EXPECT_NEAR(report["tempo_bpm"], 100, 1.5);
  EXPECT_EQ(report["key"], "A:minor");
  EXPECT_GE(report["chords"].size(), 4U);

  const auto mix = audio::read_audio(path("band/mix.wav"));
  // Drums reach the peak limit before the mix reaches -16 LUFS.
  EXPECT_LE(audio::integrated_lufs(mix.samples, 44100), -15.9);
  EXPECT_GE(audio::integrated_lufs(mix.samples, 44100), -22);
  EXPECT_LE(audio::true_peak_dbtp(mix.samples, 44100), -0.9);
  std::vector<float> sum(mix.samples.size());
  for (const char* name : {"lead", "bass", "chords", "drums"}) {
    const auto stem = audio::read_audio(path(std::string("band/") + name + ".wav"));
    ASSERT_EQ(stem.samples.size(), mix.samples.size()) << name;
    EXPECT_GT(audio::integrated_lufs(stem.samples, 44100), -50) << name;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += stem.samples[i];
  }
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], mix.samples[i], 1e-5);
  const auto song = audio::parse_midi(read("band/arrangement.mid"));
  ASSERT_EQ(song.parts.size(), 4U);
  EXPECT_EQ(song.parts[3].name, "drums");
  EXPECT_EQ(song.parts[3].channel, audio::kDrumChannel);
}

TEST_F(Musician, ABandNeedsATempoAndAKey) {
  const std::string hum = write_hum("a.wav", 2);  // three notes
  const auto outcome = run("arrange", {hum, "-o", path("band")});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("--tempo 100"));
  EXPECT_THAT(files(), ElementsAre("a.wav", "weights"));
  // With three notes there is no key either.
  const auto keyless = run("arrange", {hum, "-o", path("band"), "--tempo", "100"});
  EXPECT_EQ(keyless.code, 65);
  EXPECT_THAT(keyless.err, HasSubstr("--key C:major"));
  EXPECT_EQ(run("arrange", {hum, "-o", path("band"), "--tempo", "100", "--key", "A:minor"}).code,
            0);
}

}  // namespace
}  // namespace hum::e2e
