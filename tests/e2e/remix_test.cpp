// hum remix, with tiny weights: the sound, streams, and faults of a user.
#include <algorithm>
#include <cmath>

#include "app/separation/testing.h"
#include "audio/io.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "models/testing.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class RemixProgram : public Program {
 protected:
  RemixProgram() {
    write_tiny_weights(folder_ / "weights");
    app::testing::write_tiny_spleeter(folder_ / "wheels/spleeter");
  }

  std::string write_song(const std::string& name) const {
    const auto hum = audio::read_audio(write_hum("hum.wav"));
    audio::write_audio(path(name), audio::widened(hum, 2));
    fs::remove(path("hum.wav"));
    return path(name);
  }
  RunOptions with_spleeter(RunOptions options = {}) const {
    options.environment["HUM_THIRD_PARTY"] = path("wheels");
    options.folder = folder_;
    return options;
  }
  Outcome remix(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), "remix");
    arguments.insert(arguments.end(), {"--weights", path("weights"), "--preset", "flute"});
    return run_hum(arguments, with_spleeter(options));
  }
};

TEST_F(RemixProgram, PlaysTheVocalsOfASong) {
  const std::string song = write_song("song.wav");
  const Outcome run = remix({song, "-o", path("out.wav"), "--midi", path("part.mid")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("out.wav: vocals ("));
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 1);
  EXPECT_THAT(run.err, HasSubstr("separating"));
  const auto original = audio::read_audio(song), mix = audio::read_audio(path("out.wav"));
  EXPECT_EQ(mix.rate_hz, original.rate_hz);
  EXPECT_EQ(mix.channels, 2);
  EXPECT_EQ(mix.frames(), original.frames());
  EXPECT_TRUE(fs::exists(path("part.mid")));
}

TEST_F(RemixProgram, ReportsInJson) {
  const Outcome run = remix({write_song("song.wav"), "-o", path("out.flac"), "--json", "--keep",
                             "--gain", "-3", "--vocals", "spleeter", "--bits", "24"});
  EXPECT_EQ(run.code, 0) << run.err;
  const Json report = parse_json(run.out);
  EXPECT_EQ(report["input"], path("song.wav"));
  EXPECT_EQ(report["output"], path("out.flac"));
  EXPECT_EQ(report["stem"], "vocals");
  EXPECT_EQ(report["vocals"], "spleeter");
  EXPECT_EQ(report["keep"], true);
  EXPECT_EQ(report["preset"], "flute");
  EXPECT_LT(report["stem_lufs"].get<double>(), 0);
  EXPECT_LE(report["gain_db"].get<double>(), 0);
  EXPECT_GE(report["notes"].size(), 4U);
  EXPECT_TRUE(report["warnings"].is_array());
  for (const auto& warning : report["warnings"]) {
    EXPECT_THAT(warning.get<std::string>(), Not(HasSubstr("microphone")));
  }
  EXPECT_GT(report["seconds"]["separate"].get<double>(), 0);
}

TEST_F(RemixProgram, ReadsStdinAndWritesStdout) {
  write_song("song.wav");
  const Outcome run = run_shell(
      "hum remix - --preset flute --weights weights -o - --format flac < song.wav > "
      "out.flac",
      with_spleeter());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("-: vocals ("));
  EXPECT_EQ(audio::read_audio(path("out.flac")).frames(),
            audio::read_audio(path("song.wav")).frames());
}

TEST_F(RemixProgram, PlaysOtherStemsWithASeparator) {
  models::write_tiny_weights(folder_ / "weights", "separator");
  const Outcome run =
      remix({write_song("song.wav"), "-o", path("out.ogg"), "--stem", "other", "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(parse_json(run.out)["vocals"], "spleeter");
}

TEST_F(RemixProgram, AFullDiskLeavesNothing) {
  const std::string song = write_song("song.wav");
  const auto before = files();
  const Outcome run = remix({song, "-o", path("out.wav")}, {.max_file_bytes = 100000});
  EXPECT_EQ(run.code, static_cast<int>(ExitCode::kCannotCreate)) << run.err;
  EXPECT_EQ(files(), before);
}

TEST_F(RemixProgram, ATruncatedSongLeavesNothing) {
  audio::write_audio(path("whole.mp3"), audio::read_audio(write_song("song.wav")));
  const std::string mp3 = read("whole.mp3");
  write("half.mp3", mp3.substr(0, mp3.size() / 2));
  const auto before = files();
  const Outcome run =
      remix({path("half.mp3"), "-o", path("out.wav")}, {.environment = {{"HUM_LOG", "warn"}}});
  expect_error(run, 65, "half.mp3: the file is truncated", "the end is missing");
  EXPECT_EQ(files(), before);
}

TEST_F(RemixProgram, ErrorsNameTheStemAndARemedy) {
  const std::string song = write_song("song.wav");
  expect_error(remix({song, "-o", path("out.wav"), "--stem", "lead"}), 66,
               "these weights have no separator", "hum remix SONG --stem vocals --vocals spleeter");
  const std::string silent = write_sound("silent.wav", std::vector<float>(44100), 44100);
  const Outcome run =
      remix({silent, "-o", path("out.wav")}, {.environment = {{"HUM_LOG", "warn"}}});
  expect_error(run, 65, "the stem vocals of " + silent + " is silent", "--stem names another one");
  EXPECT_FALSE(fs::exists(path("out.wav")));
}

TEST_F(RemixProgram, TheVocalsAloneNeedOnlySpleeter) {
  if (!fs::exists(in_wheels("spleeter/config.json"))) {
    GTEST_SKIP() << "make fetch-spleeter fetches the weights";
  }
  const auto original = audio::read_audio(example_recording());
  const Outcome run =
      run_hum({"remix", example_recording().string(), "-o", path("out.wav"), "--preset", "flute",
               "--json", "--bits", "float", "--weights", path("weights")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(parse_json(run.out).at("vocals"), "spleeter");
  const auto mix = audio::read_audio(path("out.wav"));
  ASSERT_EQ(mix.samples.size(), original.samples.size());
  double product = 0, energy = 0, own = 0;
  for (size_t i = 0; i < mix.samples.size(); ++i) {
    product += static_cast<double>(mix.samples[i]) * original.samples[i];
    energy += std::pow(original.samples[i], 2);
    own += std::pow(mix.samples[i], 2);
  }
  EXPECT_LT(std::abs(product) / std::sqrt(energy * own), 0.3) << "the singer is gone";
}

}  // namespace
}  // namespace hum::e2e
