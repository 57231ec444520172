// hum generate and hum codec, on small untrained weights: everything but the beauty of the sound.
#include <algorithm>

#include "audio/io.h"
#include "audio/loudness.h"
#include "audio/notes.h"
#include "base/json.h"
#include "data/synthesis/presets.h"
#include "models/codec/token_file.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Generate : public Program {
 protected:
  Generate() { write_tiny_weights(folder_ / "weights"); }

  Outcome generate(const std::string& input, const std::string& output,
                   const std::vector<std::string>& flags = {}) {
    std::vector<std::string> arguments = {"generate",   input,       "-o",
                                          path(output), "--weights", path("weights")};
    if (std::ranges::find(flags, "--timbre") == flags.end()) {
      arguments.insert(arguments.end(), {"--preset", "violin"});
    }
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_hum(arguments);
  }
};

TEST_F(Generate, PlaysARealSinger) {
  const auto run =
      generate(example_recording().string(), "out.wav", {"--midi", path("out.mid"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto sound = audio::read_audio(path("out.wav"));
  EXPECT_EQ(sound.rate_hz, 44100);
  EXPECT_EQ(sound.channels, 1);
  EXPECT_LE(audio::true_peak_dbtp(sound.samples, 44100), -0.9);
  EXPECT_GT(audio::integrated_lufs(sound.samples, 44100), -40);

  const Json report = parse_json(run.out);
  EXPECT_EQ(report["octave"], 1);  // the singer is at A2 to G#3, a violin begins at G3
  EXPECT_NEAR(report["audio_seconds"].get<double>(), sound.seconds(), 1e-3);
  const auto notes = audio::read_notes(path("out.mid"));
  ASSERT_EQ(notes.size(), report["notes"].size());
  EXPECT_GE(notes.size(), 24U);  // basic-pitch has 28, four of them the vibrato of the one before
  double all_s = 0, inside_s = 0;
  for (const auto& note : notes) {
    all_s += note.end_s - note.start_s;
    if (note.pitch >= 55) inside_s += note.end_s - note.start_s;
  }
  EXPECT_GE(inside_s, 0.95 * all_s);
  EXPECT_GE(sound.seconds(), notes.back().end_s);
  EXPECT_LE(sound.seconds(), notes.back().end_s + 2.01);
}

TEST_F(Generate, CompilesNothingForAnotherLength) {
  for (const double seconds : {2.0, 8.0, 15.0}) {
    const std::string hum = write_hum("a.wav", seconds);
    const auto run = generate(hum, "out.wav", {"--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const int64_t compiles = parse_json(run.out)["counters"]["compiles"];
    EXPECT_TRUE(seconds == 2 || compiles == 0) << compiles << " at " << seconds;
  }
}

TEST_F(Generate, IsTheSameForTheSameSeed) {
  const std::string hum = write_hum("a.wav");
  for (const auto& [name, seed] : {std::pair{"1.wav", "7"}, {"2.wav", "7"}, {"3.wav", "8"}}) {
    ASSERT_EQ(generate(hum, name, {"--seed", seed}).code, 0);
  }
  EXPECT_EQ(read("1.wav"), read("2.wav"));
  EXPECT_NE(read("1.wav"), read("3.wav"));
}

TEST_F(Generate, WritesTheFormatThatIsAskedFor) {
  const std::string hum = write_hum("a.wav");
  ASSERT_EQ(generate(hum, "out.flac", {"--rate", "48000", "--bits", "24", "--stereo"}).code, 0);
  const auto sound = audio::read_audio(path("out.flac"));
  EXPECT_EQ(sound.rate_hz, 48000);
  EXPECT_EQ(sound.channels, 2);
  ASSERT_EQ(generate(hum, "out.wav", {"--rate", "22050", "--bits", "float"}).code, 0);
  EXPECT_EQ(audio::read_audio(path("out.wav")).rate_hz, 22050);
  EXPECT_EQ(read("out.wav").substr(20, 1), "\x03");  // WAVE_FORMAT_IEEE_FLOAT
}

TEST_F(Generate, TakesOtherPaths) {
  const std::string hum = write_hum("a.wav");
  for (const auto& flags : std::vector<std::vector<std::string>>{
           {"--lm"}, {"--decoder", "plain"}, {"--lm", "--greedy"}, {"--polyphonic"}}) {
    const auto run = generate(hum, "out.wav", flags);
    EXPECT_EQ(run.code, 0) << flags[0] << run.err;
  }
}

TEST_F(Generate, ImitatesARecording) {
  const std::string hum = write_hum("a.wav");
  const auto run = generate(hum, "out.wav", {"--timbre", example_recording().string()});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto brief = generate(hum, "brief.wav", {"--timbre", write_hum("b.wav", 0.9)});
  EXPECT_EQ(brief.code, 65);
  EXPECT_THAT(brief.err, HasSubstr("too little to learn a timbre from"));
}

std::vector<float> noise() {
  std::vector<float> result(3 * 22050);
  uint32_t state = 1;
  for (float& sample : result) {
    state = state * 1664525 + 1013904223;
    sample = static_cast<float>(state >> 8) / (1 << 24) - 0.5F;
  }
  return result;
}

TEST_F(Generate, WarnsOfATimbreInWhichNoNoteIsHeard) {
  const std::string timbre = write_sound("noise.wav", noise(), 22050);
  const auto run = generate(write_hum("a.wav"), "out.wav", {"--timbre", timbre, "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("no note was heard in what is used of the recordings of the timbre"));
  EXPECT_EQ(parse_json(run.out)["octave_reason"], "the instrument's range is unknown");
}

// The corrections are those of the clip whose notes were heard: nothing fills the rests.
TEST_F(Generate, ARecordingWithoutANoteAmongOthersCorrectsNothing) {
  write_sound("noise.wav", noise(), 22050);
  write_hum("hum.wav");
  const auto run = generate(write_hum("a.wav"), "out.wav",
                            {"--timbre", path("hum.wav"), path("noise.wav"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("no note was heard in 1 of the 2 recordings of the timbre"));
}

TEST_F(Generate, MovesTheMelody) {
  const std::string hum = write_hum("a.wav");
  auto first_pitch = [&](const std::vector<std::string>& flags) {
    auto all = flags;
    all.emplace_back("--json");
    const auto run = generate(hum, "out.wav", all);
    EXPECT_EQ(run.code, 0) << run.err;
    return parse_json(run.out)["notes"][0]["pitch"].get<int>();
  };
  EXPECT_EQ(first_pitch({"--octave", "0"}), 57);
  EXPECT_EQ(first_pitch({"--octave", "1"}), 69);
  EXPECT_EQ(first_pitch({"--octave", "0", "--transpose", "-2"}), 55);
}

TEST_F(Generate, ReplacesAnExistingOutput) {
  const std::string hum = write_hum("a.wav");
  write("out.wav", "old");
  ASSERT_EQ(generate(hum, "out.wav").code, 0);
  EXPECT_GT(read("out.wav").size(), 1000U);
  EXPECT_THAT(files(), ElementsAre("a.wav", "out.wav", "weights"));
}

TEST_F(Generate, StoppedWithControlCLeavesNothing) {
  std::vector<std::string> arguments = {
      "generate",  write_hum("a.wav", 200), "-o", path("out.wav"), "--preset", "violin",
      "--weights", path("weights")};
  const auto run = run_hum(arguments, {.interrupt_after_ms = 400});
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_THAT(run.err, HasSubstr("hum: error: stopped\nhint: run the command again\n"));
  EXPECT_THAT(files(), ElementsAre("a.wav", "weights"));
}

TEST_F(Generate, StoredReferencesStandForTheSoundFont) {
  const std::string hum = write_hum("a.wav");
  ASSERT_EQ(generate(hum, "rendered.wav").code, 0);
  const auto run = run_hum({"data", "references", "--weights", path("weights")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto stored = run_hum({"generate", hum, "-o", path("stored.wav"), "--weights",
                               path("weights"), "--preset", "violin"},
                              {.environment = {{"HUM_SOUND_FONT", path("none.sf2")}}});
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(read("rendered.wav"), read("stored.wav"));
  const auto tokens = models::codec::read_token_file(path("weights/references/violin.safetensors"));
  EXPECT_EQ(tokens.frames(), 21 * 50);
  EXPECT_EQ(tokens.samples, 21 * 22050);
  // Its last note is the highest one, loud.
  EXPECT_EQ(tokens.notes.back().pitch, data::find_preset("violin").high);
  EXPECT_NEAR(tokens.notes.back().start_s, 20, 1e-9);
}

TEST_F(Generate, StoredResidualsStandForDrafts) {
  write("data.yaml", "items: {presets: [violin]}\ncount: 1\nitems_per_shard: 1\nthreads: 1\n");
  const auto made = run_hum({"data", "make", "--config", path("data.yaml"), "-o", path("data")});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto store = [&] {
    const auto run =
        run_hum({"data", "references", "--weights", path("weights"), "--data", path("data")});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  const std::string hum = write_hum("a.wav"), file = "weights/references/residuals.safetensors";
  const auto play = [&](const std::string& name, const std::vector<std::string>& flags = {}) {
    const auto run = generate(hum, name, flags);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.err;
  };
  EXPECT_THAT(store(), HasSubstr("1 preset, with residuals"));
  EXPECT_THAT(play("stored.wav"), Not(HasSubstr("residuals")));

  // Without them, or with a damaged file, the models draft the reference again.
  write(file, "no residuals");
  EXPECT_THAT(play("damaged.wav"), HasSubstr("`hum data references`"));
  EXPECT_THAT(play("without.wav", {"--residual", "0"}), Not(HasSubstr("residuals")));
  std::filesystem::remove(folder_ / file);
  EXPECT_THAT(play("drafted.wav"), Not(HasSubstr("residuals")));
  EXPECT_EQ(read("drafted.wav"), read("stored.wav"));
  EXPECT_EQ(read("damaged.wav"), read("stored.wav"));

  // A codec alone cannot draft.
  write(file, "of another model");
  std::filesystem::remove_all(folder_ / "weights/upsampler");
  EXPECT_THAT(store(), HasSubstr("1 preset\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / file));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "weights/references/violin.safetensors"));
}

TEST_F(Generate, AddsTheResidualOfTheReference) {
  const std::string hum = write_hum("a.wav");
  const auto play = [&](const std::string& name, const std::vector<std::string>& flags) {
    const auto run = generate(hum, name, flags);
    EXPECT_EQ(run.code, 0) << run.err;
    return read(name);
  };
  const std::vector<std::string> clip = {"--timbre", example_recording().string()};
  auto clip_without = clip;
  clip_without.insert(clip_without.end(), {"--residual", "0"});
  EXPECT_NE(play("1.wav", clip), play("2.wav", clip_without));
  EXPECT_EQ(read("1.wav"), play("3.wav", clip));
  const std::string whole = play("4.wav", {});
  EXPECT_EQ(play("5.wav", {"--residual", "1"}), whole);
  EXPECT_NE(play("6.wav", {"--residual", "0"}), whole);
  EXPECT_NE(play("7.wav", {"--residual", "0.5"}), whole);
}

TEST_F(Generate, ReadsReferencesWithoutNotes) {
  const std::string hum = write_hum("a.wav");
  write_tiny_references(folder_ / "weights");
  ASSERT_EQ(generate(hum, "without.wav").code, 0);
  const auto run = generate(hum, "with.wav", {"--residual", "0"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read("without.wav"), read("with.wav"));
}

TEST_F(Generate, ImitatesTheBestPartOfALongRecording) {
  // Silence, then notes for 6 s.
  auto clip = std::vector<float>(5 * 22050);
  clip[0] = 0.5F;
  const auto notes = audio::read_audio(write_hum("notes.wav", 6)).samples;
  clip.insert(clip.end(), notes.begin(), notes.end());
  const std::string timbre = write_sound("long.wav", clip, 22050);
  const auto run = generate(write_hum("a.wav"), "out.wav", {"--timbre", timbre, "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json part = parse_json(run.out)["timbre"][0]["seconds"];
  EXPECT_NEAR(part[1].get<double>() - part[0].get<double>(), 5, 1e-3);
  EXPECT_GE(part[0], 5.0);
  EXPECT_THAT(run.err, HasSubstr(fmt::format("long.wav: the timbre is that of {:.1f} to {:.1f} s",
                                             part[0].get<double>(), part[1].get<double>())));
  const auto preset = generate(write_hum("a.wav"), "out.wav", {"--json"});
  EXPECT_EQ(parse_json(preset.out)["timbre"], Json::array());
}

TEST_F(Generate, ImitatesSeveralRecordings) {
  const std::string hum = write_hum("a.wav");
  const std::string low = write_hum("low.wav", 6);
  // At twice the rate: an octave higher.
  const std::string high =
      write_sound("high.wav", audio::read_audio(write_hum("slow.wav", 12)).samples, 44100);
  const auto play = [&](const std::string& name, std::vector<std::string> timbre) {
    timbre.insert(timbre.begin(), "--timbre");
    timbre.emplace_back("--json");
    const auto run = generate(hum, name, timbre);
    EXPECT_EQ(run.code, 0) << run.err;
    return run;
  };
  const auto both = play("both.wav", {low, high});
  EXPECT_THAT(both.err, HasSubstr("low.wav: the timbre is that of"));
  EXPECT_THAT(both.err, HasSubstr("high.wav: the timbre is that of"));
  double read_s = 0;
  const Json parts = parse_json(both.out)["timbre"];
  ASSERT_EQ(parts.size(), 2U);
  for (const Json& part : parts) {
    EXPECT_NEAR(part["seconds"][1].get<double>() - part["seconds"][0].get<double>(), 5, 0.01);
    read_s += part["read_seconds"][1].get<double>() - part["read_seconds"][0].get<double>();
  }
  EXPECT_NEAR(read_s, 5, 0.05);
  EXPECT_EQ(parts[0]["file"], high);
  // Their order changes nothing; each of them changes the sound.
  play("again.wav", {high, low});
  EXPECT_EQ(read("again.wav"), read("both.wav"));
  play("low-only.wav", {low});
  EXPECT_NE(read("low-only.wav"), read("both.wav"));
}

TEST_F(Generate, CodecTokensGoToAFileAndBack) {
  const std::string hum = write_hum("a.wav", 8);
  const auto encoded =
      run_hum({"codec", "encode", hum, "-o", path("a.safetensors"), "--weights", path("weights")});
  ASSERT_EQ(encoded.code, 0) << encoded.err;
  EXPECT_THAT(encoded.out, HasSubstr("400 frames of 4 tokens"));
  for (const char* books : {"0", "1"}) {
    const auto decoded = run_hum({"codec", "decode", path("a.safetensors"), "-o", path("b.wav"),
                                  "--weights", path("weights"), "--books", books});
    ASSERT_EQ(decoded.code, 0) << decoded.err;
    EXPECT_EQ(audio::read_audio(path("b.wav")).frames(), 8 * 22050);
  }
  write("a.safetensors", read("a.safetensors").substr(0, 500));
  EXPECT_EQ(run_hum({"codec", "decode", path("a.safetensors"), "-o", path("b.wav"), "--weights",
                     path("weights")})
                .code,
            65);
}

}  // namespace
}  // namespace hum::e2e
