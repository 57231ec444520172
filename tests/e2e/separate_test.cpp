// hum separate, with tiny weights: the files, streams, and faults of a user.
#include <algorithm>
#include <cmath>

#include "audio/io.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/rng.h"
#include "models/testing.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class SeparateProgram : public Program {
 protected:
  SeparateProgram() { models::write_tiny_weights(folder_ / "weights", "separator"); }

  std::string write_song(const std::string& name, int rate_hz, int channels, int64_t frames) const {
    Rng rng(8, name);
    std::vector<float> samples;
    for (int64_t i = 0; i < frames * channels; ++i) {
      samples.push_back(static_cast<float>(rng.uniform(-0.3, 0.3)));
    }
    audio::write_audio(path(name), {rate_hz, channels, samples});
    return path(name);
  }
  Outcome separate(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), "separate");
    arguments.insert(arguments.end(), {"--weights", path("weights"), "--vocals", "own"});
    return run_hum(arguments, options);
  }
};

TEST_F(SeparateProgram, WritesTheStemsOfASong) {
  const Outcome run = separate({write_song("song.wav", 48000, 2, 7000), "-o", path("out")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("out/song/lead.wav: "));
  EXPECT_THAT(run.out, HasSubstr("vocals: own"));
  for (const char* stem : {"drums", "bass", "vocals", "lead", "chordal", "other"}) {
    const auto sound = audio::read_audio(path(fmt::format("out/song/{}.wav", stem)));
    EXPECT_EQ(sound.rate_hz, 48000);
    EXPECT_EQ(sound.channels, 2);
    EXPECT_EQ(sound.frames(), 7000);
  }
}

TEST_F(SeparateProgram, SeparatesToTheFolderOfThatNameByDefault) {
  write_song("a.wav", 44100, 1, 2000);
  write_song("b.wav", 44100, 1, 2000);
  const Outcome run = run_shell(
      "hum separate a.wav b.wav --two-stems bass --flac --json --vocals own --weights weights",
      {.folder = folder_});
  EXPECT_EQ(run.code, 0) << run.err;
  const Json reports = parse_json(run.out);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].at("stems").at("no_bass").at("file"), "separated/b/no_bass.flac");
  EXPECT_TRUE(fs::exists(path("separated/a/bass.flac")));
}

TEST_F(SeparateProgram, ReadsStdinAndWritesStdout) {
  write_song("a.wav", 22050, 1, 3000);
  const Outcome run = run_shell(
      "hum separate - --stems other -o - --vocals own --weights weights < a.wav > other.wav",
      {.folder = folder_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("-: -"));
  const auto sound = audio::read_audio(path("other.wav"));
  EXPECT_EQ(sound.rate_hz, 22050);
  EXPECT_EQ(sound.frames(), 3000);
}

TEST_F(SeparateProgram, AFullDiskLeavesNothing) {
  const std::string song = write_song("song.wav", 44100, 2, 60000);
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--float32"}, {"--clip-mode", "clamp"}}) {
    std::vector<std::string> arguments = {song, "-o", path("out")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome run = separate(arguments, {.max_file_bytes = 100000});
    EXPECT_EQ(run.code, static_cast<int>(ExitCode::kCannotCreate)) << run.err;
    EXPECT_FALSE(fs::exists(path("out")));
  }
}

TEST_F(SeparateProgram, TakesSoundsOfAllKinds) {
  for (const auto& [rate_hz, channels, frames] :
       {std::tuple{8000, 1, 1}, {192000, 2, 4000}, {44100, 8, 2000}}) {
    const std::string song =
        write_song(fmt::format("{}-{}.wav", rate_hz, channels), rate_hz, channels, frames);
    const Outcome run = separate({song, "-o", path("out"), "--stems", "drums"});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto sound =
        audio::read_audio(path(fmt::format("out/{}-{}/drums.wav", rate_hz, channels)));
    EXPECT_EQ(sound.rate_hz, rate_hz);
    EXPECT_EQ(sound.channels, channels);
    EXPECT_EQ(sound.frames(), frames);
  }
  const std::string song = write_song("many.wav", 44100, 3, 2000);
  expect_error(separate({song, "-o", path("out"), "--mp3"}), 2, "cannot hold 3 channels");
}

TEST_F(SeparateProgram, TheVocalsAloneNeedOnlySpleeter) {
  if (!fs::exists(in_wheels("spleeter/config.json"))) {
    GTEST_SKIP() << "make fetch-spleeter fetches the weights";
  }
  fs::remove_all(path("weights/separator"));
  const std::string song = example_recording().string();
  const Outcome run = run_hum({"separate", song, "-o", path("out"), "--two-stems", "vocals",
                               "--float32", "--json", "--weights", path("weights")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(parse_json(run.out).at("vocals"), "spleeter");
  const auto track = fs::path(song).stem().string();
  const auto vocals = audio::read_audio(path("out/" + track + "/vocals.wav")),
             rest = audio::read_audio(path("out/" + track + "/no_vocals.wav")),
             whole = audio::read_audio(song);
  ASSERT_EQ(vocals.samples.size(), whole.samples.size());
  double error = 0, energy = 0, sung = 0;
  for (size_t i = 0; i < whole.samples.size(); ++i) {
    error =
        std::max<double>(error, std::abs(vocals.samples[i] + rest.samples[i] - whole.samples[i]));
    energy += std::pow(whole.samples[i], 2);
    sung += std::pow(vocals.samples[i], 2);
  }
  EXPECT_LT(error, 1e-6);
  EXPECT_GT(sung, 0.5 * energy) << "the recording is a voice alone";
}

}  // namespace
}  // namespace hum::e2e
