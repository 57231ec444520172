// What users get wrong: a message of one line with a hint, an exit code that says what kind of
// fault it was, and no output.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "audio/test_signal.h"
#include "base/files.h"
#include "base/rng.h"
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

// A sound file that is wrong, under the commands that read one.
class BadInput : public Program {
 protected:
  // `name` is the only file in the folder, if it is there at all; it stays the only one.
  void expect_refused(const std::string& name, int code, const std::string& text,
                      const std::vector<std::string>& flags = {}) {
    const auto before = files();
    const std::vector<std::vector<std::string>> commands = {
        {"notes", path(name), "-o", path("out.mid")},
        {"generate", path(name), "--preset", "violin", "-o", path("out.wav"), "--midi",
         path("out.mid"), "--weights", weights()}};
    for (auto arguments : commands) {
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      SCOPED_TRACE(arguments[0]);
      expect_error(run_hum(arguments), code, text);
      EXPECT_EQ(files(), before);
    }
  }
  static std::string weights() {
    static const fs::path folder = [] {
      const fs::path made =
          fs::temp_directory_path() / ("hum-e2e-weights-" + std::to_string(getpid()));
      write_tiny_weights(made);
      return made;
    }();
    return folder.string();
  }
  static void TearDownTestSuite() { fs::remove_all(weights()); }

  std::vector<std::string> generate(const std::string& input,
                                    const std::string& output = "out.wav") const {
    return {"generate", input, "--preset", "violin", "-o", path(output), "--weights", weights()};
  }
};

TEST_F(BadInput, MissingFile) { expect_refused("missing.wav", 66, "missing.wav: no such file"); }

TEST_F(BadInput, EmptyFile) {
  write("a.wav", "");
  expect_refused("a.wav", 65, "a.wav: is empty");
}

TEST_F(BadInput, TruncatedFile) {
  write_hum("a.wav");
  write("a.wav", read("a.wav").substr(0, 20000));
  expect_refused("a.wav", 65, "the file is truncated");
}

TEST_F(BadInput, FileThatIsNoSound) {
  write("a.wav", std::string(2000, 'x'));
  expect_refused("a.wav", 65, "not a sound file that hum reads");
}

TEST_F(BadInput, Folder) {
  fs::create_directory(folder_ / "a.wav");
  expect_error(run_hum({"notes", path("a.wav")}), 66, "is not a file");
  // generate takes folders of recordings.
  expect_error(run_hum(generate(path("a.wav"))), 66, "a.wav: holds no recordings");
  EXPECT_EQ(files(), std::vector<std::string>{"a.wav"});
}

TEST_F(BadInput, Silence) {
  write_sound("a.wav", std::vector<float>(44100), 22050);
  expect_refused("a.wav", 65, "is silent");
}

TEST_F(BadInput, NoiseWithoutMelody) {
  std::vector<float> noise(4 * 22050);
  Rng rng(1, "noise");
  for (float& sample : noise) sample = static_cast<float>(0.1 * rng.normal());
  write_sound("a.wav", noise, 22050);
  expect_refused("a.wav", 65, "found");
  expect_error(run_hum(generate(path("a.wav"))), 65, "no melody was found in " + path("a.wav"));
}

TEST_F(BadInput, SamplesThatAreNotNumbers) {
  auto samples = audio::tone(220, 2, 22050);
  samples[100] = std::nanf("");
  samples[200] = INFINITY;
  write_sound("a.wav", samples, 22050);
  expect_refused("a.wav", 65, "2 of 44100 samples are not finite");
}

TEST_F(BadInput, TenthOfASecond) {
  write_sound("a.wav", audio::tone(220, 0.1, 22050), 22050);
  expect_refused("a.wav", 65, "only 0.10 s long");
}

TEST_F(BadInput, LongerThanTheLimit) {
  write_sound("a.wav", audio::tone(220, 4, 22050), 22050);
  expect_refused("a.wav", 65, "--max-seconds", {"--max-seconds", "3"});
}

TEST_F(BadInput, UnknownPreset) {
  const std::string hum = write_hum("a.wav");
  const auto run = run_hum({"generate", hum, "--preset", "violine", "-o", path("out.wav")});
  expect_error(run, 2, "unknown preset 'violine'");
  EXPECT_THAT(run.err, HasSubstr("the nearest names are violin,"));
  EXPECT_THAT(files(), ElementsAre("a.wav"));
}

TEST_F(BadInput, PresetAndTimbreTogetherOrNeither) {
  const std::string hum = write_hum("a.wav");
  expect_error(run_hum({"generate", hum, "-o", path("out.wav")}), 2, "neither --preset nor");
  expect_error(
      run_hum({"generate", hum, "-o", path("out.wav"), "--preset", "violin", "--timbre", hum}), 2,
      "cannot be combined");
}

TEST_F(BadInput, FlagsOutOfRange) {
  const std::string hum = write_hum("a.wav");
  const std::vector<std::vector<std::string>> flags = {
      {"--rate", "8000"},           {"--octave", "high"},
      {"--transpose", "200"},       {"--temperature", "-1", "--lm"},
      {"--top-p", "0", "--lm"},     {"--top-k", "-3", "--lm"},
      {"--guidance", "99", "--lm"}, {"--seed", "-1"},
      {"--decoder", "raw"},         {"--bits", "12"},
      {"--tuning", "maybe"},        {"--rate", "fast"},
      {"--melody-guidance", "21"},  {"--timbre-guidance", "-2"},
      {"--guidance-over", "0"},     {"--guidance-over", "last-note"}};
  for (const auto& flag : flags) {
    auto arguments = generate(hum);
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    const auto run = run_hum(arguments);
    EXPECT_EQ(run.code, 2) << flag[0];
    EXPECT_THAT(run.err, HasSubstr(flag[0]));
    EXPECT_THAT(files(), ElementsAre("a.wav"));
  }
}

TEST_F(BadInput, MissingWeights) {
  const std::string hum = write_hum("a.wav");
  expect_error(run_hum({"generate", hum, "--preset", "violin", "-o", path("out.wav"), "--weights",
                        path("nowhere")}),
               66, "nowhere: no such folder", "a folder of weights holds");
  EXPECT_THAT(files(), ElementsAre("a.wav"));
}

TEST_F(BadInput, WeightsWithoutAnEar) {
  const std::string hum = write_hum("a.wav"), deaf = path("weights");
  fs::copy(weights(), deaf, fs::copy_options::recursive);
  fs::remove_all(fs::path(deaf) / "ear");
  write("data.yaml", "items: {presets: [flute]}\ncount: 2\n");
  const std::vector<std::string> play = {"generate", hum,  "--preset",
                                         "violin",   "-o", path("out.wav")};
  const RunOptions options{.environment = {{"HUM_WEIGHTS", deaf}}};
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           play,
           {"notes", hum, "--voice"},
           {"data", "make", "--config", path("data.yaml"), "-o", path("items")}}) {
    SCOPED_TRACE(arguments[0]);
    expect_error(run_hum(arguments, options), 66, deaf + ": these weights have no ear",
                 "hum train ear");
    EXPECT_THAT(files(), ElementsAre("a.wav", "data.yaml", "weights"));
  }
  auto polyphonic = play;
  polyphonic.emplace_back("--polyphonic");
  const auto played = run_hum(polyphonic, options);
  EXPECT_EQ(played.code, 0) << played.err;
}

TEST_F(BadInput, TruncatedWeights) {
  const std::string hum = write_hum("a.wav");
  for (const char* part : {"codec", "upsampler", "coarse", "voice", "ear"}) {
    const fs::path copy = folder_ / "weights";
    fs::copy(weights(), copy, fs::copy_options::recursive);
    const fs::path file = copy / part / "model.safetensors";
    fs::resize_file(file, fs::file_size(file) - 100);
    expect_error(run_hum({"generate", hum, "--preset", "violin", "-o", path("out.wav"), "--lm",
                          "--weights", copy.string()}),
                 65, std::string(part) + "/model.safetensors");
    fs::remove_all(copy);
    EXPECT_THAT(files(), ElementsAre("a.wav"));
  }
}

TEST_F(BadInput, WeightsOfAnotherModel) {
  const std::string hum = write_hum("a.wav");
  const fs::path copy = folder_ / "weights";
  fs::copy(weights(), copy, fs::copy_options::recursive);
  write_file(copy / "upsampler/config.json", R"({"model_type": "llama", "hidden_size": 4096})");
  expect_error(run_hum({"generate", hum, "--preset", "violin", "-o", path("out.wav"), "--weights",
                        copy.string()}),
               65, "has model_type 'llama'");
  fs::remove(copy / "upsampler/SHA256SUMS");
  fs::copy_file(fs::path(weights()) / "coarse/model.safetensors",
                copy / "upsampler/model.safetensors", fs::copy_options::overwrite_existing);
  fs::copy_file(fs::path(weights()) / "upsampler/config.json", copy / "upsampler/config.json",
                fs::copy_options::overwrite_existing);
  expect_error(run_hum({"generate", hum, "--preset", "violin", "-o", path("out.wav"), "--weights",
                        copy.string()}),
               65, "upsampler: no tensor");
}

TEST_F(BadInput, PluginThatIsMissing) {
  const std::string hum = write_hum("a.wav");
  const RunOptions options{.environment = {{"HUM_PLUGIN", path("no.so")}}};
  expect_error(run_hum({"notes", hum, "-o", path("out.mid")}, options), 69, "no.so");
  expect_error(run_hum(generate(hum), options), 69, "no.so");
  expect_error(run_hum({"notes", hum, "-o", path("out.mid"), "--device", path("none.so")}), 69,
               "none.so: no such file");
  expect_error(run_hum({"--device", "cudda", "notes", hum, "-o", path("out.mid")}), 69,
               "name a device (cpu, cuda, tpu, neuron)");
  EXPECT_THAT(files(), ElementsAre("a.wav"));
}

TEST_F(BadInput, PluginThatIsTooOld) {
  const std::string hum = write_hum("a.wav");
  const RunOptions options{.environment = {{"HUM_PLUGIN", HUM_OLD_PLUGIN}}};
  expect_error(run_hum({"notes", hum, "-o", path("out.mid")}, options), 69, "0.30");
  EXPECT_THAT(files(), ElementsAre("a.wav"));
}

TEST_F(BadInput, WhatCannotBePrintedIsAnError) {
  ASSERT_GT(run_hum({"presets"}).out.size(), 200U);
  const auto run = run_hum({"presets"}, {.max_file_bytes = 200});
  EXPECT_EQ(run.code, 73);
  EXPECT_THAT(run.err, AllOf(HasSubstr("stdout"), HasSubstr("\nhint: ")));
}

TEST_F(BadInput, FullDiskLeavesTheOldOutputAlone) {
  const std::string hum = write_hum("a.wav");
  write("out.wav", "old");
  // Compiled programs are there already, so the only large file is the sound.
  ASSERT_EQ(run_hum(generate(hum, "first.wav")).code, 0);
  fs::remove(folder_ / "first.wav");
  const auto run = run_hum(generate(hum), {.max_file_bytes = 16384});
  EXPECT_EQ(run.code, 73) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("out.wav"), HasSubstr("\nhint: ")));
  EXPECT_EQ(read("out.wav"), "old");
  EXPECT_THAT(files(), ElementsAre("a.wav", "out.wav"));
}

TEST_F(BadInput, PathThatCannotBeWritten) {
  const std::string hum = write_hum("a.wav");
  expect_error(run_hum(generate(hum, "nowhere/out.wav")), 73, "nowhere/out.wav");
  expect_error(run_hum(generate(hum, "a.wav/out.wav")), 73, "a.wav/out.wav");
  expect_error(run_hum({"notes", hum, "-o", path("nowhere/out.mid")}), 73, "nowhere/out.mid");
  expect_error(run_hum({"notes", hum, "-o", "/proc/hum.mid"}), 73, "/proc/hum.mid");
  expect_error(run_hum(generate(hum, "out.xyz")), 2, "'.xyz' is not an output format");
  expect_error(run_hum({"notes", hum, "-o", path("out.wav")}), 2, "'.wav' is not an output format");
  EXPECT_THAT(files(), ElementsAre("a.wav"));
}

TEST_F(BadInput, ClippedSoundWorksWithAWarning) {
  auto samples = audio::tone(220, 2, 22050, 3);
  for (float& sample : samples) sample = std::clamp(sample, -1.0F, 1.0F);
  const auto run = run_hum({"notes", write_sound("a.wav", samples, 22050), "-o", path("out.json")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: " + path("a.wav") + ": the recording is clipped"));
  EXPECT_THAT(files(), ElementsAre("a.wav", "out.json"));
}

TEST_F(BadInput, EightChannelsAt192KHzWorkWithAWarning) {
  const auto samples = audio::tone(220, 2, 192000);
  const auto run =
      run_hum({"notes", write_sound("a.wav", samples, 192000, 8), "-o", path("out.json")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("8 channels were mixed into one"));
}

TEST_F(BadInput, UncertainMelodyWorksWithAWarning) {
  // Short tones in noise, which is three quarters of the recording.
  auto samples = audio::tone(220, 4, 22050, 0.1);
  Rng rng(1, "noise");
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] += static_cast<float>(0.04 * rng.normal());
    if (i % 11025 >= 2800) samples[i] = static_cast<float>(0.04 * rng.normal());
  }
  write_sound("a.wav", samples, 22050);
  const auto run = run_hum(generate(path("a.wav")));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: " + path("a.wav") + ": the melody is uncertain"));
}

}  // namespace
}  // namespace hum::e2e
