// Songs from files to files, with tiny weights.
#include "app/separation/separate.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "app/separation/testing.h"
#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "models/testing.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using audio::AudioBuffer;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Separate : public ::testing::Test {
 protected:
  Separate() { models::write_tiny_separator(folder_.path() / "weights"); }

  std::string write_song(const std::string& name, const AudioBuffer& song) const {
    fs::create_directories((folder_.path() / name).parent_path());
    audio::write_audio(folder_.path() / name, song, audio::SampleFormat::kFloat);
    return folder_ / name;
  }
  SeparateOptions options(const std::vector<std::string>& inputs) const {
    SeparateOptions options{.inputs = inputs, .vocals = Vocals::kOwn};
    options.weights = folder_ / "weights";
    options.outputs.output = folder_ / "out";
    return options;
  }
  std::vector<SeparatedFile> run(const SeparateOptions& options) {
    std::vector<SeparatedFile> results;
    summary_ = separate(options, [&](const SeparatedFile& one) { results.push_back(one); });
    return results;
  }
  // Below the folder of outputs.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    std::error_code none;
    for (fs::recursive_directory_iterator at(folder_.path() / "out", none), end; at != end; ++at) {
      if (at->is_regular_file()) {
        found.push_back(at->path().lexically_relative(folder_.path() / "out").string());
      }
    }
    std::ranges::sort(found);
    return found;
  }
  AudioBuffer read(const std::string& name) const {
    return audio::read_audio(folder_.path() / "out" / name);
  }

  ScratchFolder folder_;
  SeparateSummary summary_;
};

TEST_F(Separate, TellsItsStagesAndLeavesNothingWhenStopped) {
  const auto wanted = options({write_song("song.wav", testing::noise(44100, 2, 30000))});
  const auto ignore = [](const SeparatedFile&) {};
  std::vector<std::string> stages;
  separate(wanted, ignore, [&](std::string_view stage, double done) {
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
  });
  EXPECT_THAT(stages, ElementsAre("separate", "write"));
  EXPECT_EQ(files().size(), 6U);
  fs::remove_all(folder_.path() / "out");
  for (const std::string& last : stages) {
    const auto stop = [&](std::string_view stage, double) {
      if (stage == last) fail(ExitCode::kFailure, "stopped");
    };
    EXPECT_EQ(code_of([&] { separate(wanted, ignore, stop); }), ExitCode::kFailure);
    EXPECT_THAT(files(), ElementsAre()) << last;
  }
}

TEST_F(Separate, WritesSixStemsThatAddUp) {
  const AudioBuffer song = testing::noise(48000, 2, 9000);
  auto wanted = options({write_song("song.wav", song)});
  wanted.outputs.float32 = true;
  const auto results = run(wanted);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].fault, "");
  EXPECT_THAT(files(), ElementsAre("song/bass.wav", "song/chordal.wav", "song/drums.wav",
                                   "song/lead.wav", "song/other.wav", "song/vocals.wav"));
  std::vector<float> sum(song.samples.size());
  for (const std::string& name : files()) {
    const AudioBuffer stem = read(name);
    EXPECT_EQ(stem.rate_hz, 48000);
    EXPECT_EQ(stem.channels, 2);
    ASSERT_EQ(stem.samples.size(), sum.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += stem.samples[i];
  }
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], song.samples[i], 1e-6);
  const Json& report = results[0].report;
  EXPECT_EQ(report.at("vocals"), "own");
  EXPECT_EQ(report.at("rate_hz"), 48000);
  EXPECT_EQ(report.at("gain_db"), 0);
  EXPECT_NEAR(report.at("seconds").get<double>(), 9000.0 / 48000, 1e-9);
  EXPECT_LT(report.at("moved_to_other_db").get<double>(), 0);
  EXPECT_EQ(report.at("stems").size(), 6U);
  EXPECT_THAT(separated_text(report), HasSubstr("song/lead.wav: -"));
}

TEST_F(Separate, ExpectsAnSdrOfStemsThatAreCalibrated) {
  const std::string song = write_song("song.wav", testing::noise(44100, 2, 30000));
  auto wanted = options({song});
  wanted.outputs.overwrite = true;
  const auto confidence = [&](const char* stem) {
    const Json report = run(wanted)[0].report;
    return report.at("stems").at(stem).at("confidence");
  };
  EXPECT_TRUE(confidence("bass").is_null());
  const fs::path separator = folder_.path() / "weights/separator";
  write_json(
      separator / "confidence.json",
      {{"version", kStemConfidenceVersion},
       {"weights_sha256", runtime::shards_sha256(separator)},
       {"own",
        {{"bass",
          {{"offset_db", 7}, {"error_db", 2}, {"most_purity_db", 40}, {"least_level_db", -40}}}}}});
  EXPECT_EQ(confidence("bass"), Json({{"sdr_db", 7.0}, {"error_db", 2.0}}));
  EXPECT_TRUE(confidence("drums").is_null());
  EXPECT_THAT(separated_text(run(wanted)[0].report),
              HasSubstr("dBFS, expected SDR 7.0 dB (typical error 2.0 dB)"));
  wanted.outputs.two_stems = "bass";
  EXPECT_EQ(confidence("bass").at("sdr_db"), 7);
  EXPECT_TRUE(confidence("no_bass").is_null()) << "five stems in one file";
}

TEST_F(Separate, LowersAllStemsAlikeWhereOneExceedsFullScale) {
  const AudioBuffer song = testing::noise(44100, 2, 6000, 0.9);
  auto wanted = options({write_song("song.wav", song)});
  wanted.outputs.two_stems = "drums";
  const double gain_db = run(wanted)[0].report.at("gain_db");
  EXPECT_LT(gain_db, -1);
  EXPECT_THAT(files(), ElementsAre("song/drums.wav", "song/no_drums.wav"));
  const AudioBuffer drums = read("song/drums.wav"), others = read("song/no_drums.wav");
  const double gain = std::pow(10, gain_db / 20);
  for (size_t i = 0; i < song.samples.size(); ++i) {
    ASSERT_NEAR(drums.samples[i] + others.samples[i], gain * song.samples[i], 1e-4);
    ASSERT_LT(std::abs(drums.samples[i]), 0.995);
  }
  wanted.outputs.overwrite = true;
  wanted.clip_mode = ClipMode::kClamp;
  wanted.outputs.float32 = true;
  const Json clamped = run(wanted)[0].report;
  EXPECT_EQ(clamped.at("gain_db"), 0);
  EXPECT_EQ(clamped.at("limited"), Json::array({"no_drums"}));
  EXPECT_THAT(separated_text(clamped), HasSubstr("cut off at full scale"));
  EXPECT_EQ(std::ranges::max(read("song/no_drums.wav").samples), 1);
  wanted.clip_mode = ClipMode::kRescale;
  EXPECT_EQ(run(wanted)[0].report.at("gain_db"), 0) << "float holds what exceeds full scale";
  EXPECT_GT(std::ranges::max(read("song/no_drums.wav").samples), 1);
}

TEST_F(Separate, ReportsTheLevelOfTheFile) {
  auto wanted = options({write_song("song.wav", testing::noise(44100, 2, 6000, 0.9))});
  wanted.outputs.two_stems = "drums";
  wanted.outputs.overwrite = true;
  for (const ClipMode mode : {ClipMode::kRescale, ClipMode::kClamp, ClipMode::kNone}) {
    wanted.clip_mode = mode;
    const Json report = run(wanted)[0].report;
    for (const std::string name : {"drums", "no_drums"}) {
      double energy = 0;
      const AudioBuffer stem = read("song/" + name + ".wav");
      for (const float sample : stem.samples) energy += static_cast<double>(sample) * sample;
      EXPECT_NEAR(report.at("stems").at(name).at("level_dbfs").get<double>(),
                  10 * std::log10(energy / static_cast<double>(stem.samples.size())), 0.01)
          << name << " " << to_name(mode);
    }
  }
}

TEST_F(Separate, WritesTheStemsThatAreNamedAndTheRest) {
  auto wanted = options({write_song("a.wav", testing::noise(44100, 1, 3000))});
  wanted.outputs.stems = "drums,bass,vocals,rest";
  wanted.outputs.flac = wanted.outputs.int24 = true;
  wanted.outputs.filename = "{stem} of {track}.{ext}";
  run(wanted);
  EXPECT_THAT(files(), ElementsAre("bass of a.flac", "drums of a.flac", "rest of a.flac",
                                   "vocals of a.flac"));
  EXPECT_EQ(read("rest of a.flac").channels, 1);
}

TEST_F(Separate, KeepsFilesThatExist) {
  auto wanted = options({write_song("a.wav", testing::noise(44100, 2, 3000))});
  wanted.outputs.stems = "bass,lead";
  run(wanted);
  const fs::path bass = folder_.path() / "out/a/bass.wav";
  audio::write_audio(bass, testing::noise(44100, 2, 3000));
  const std::string mine = read_file(bass);
  fs::remove(folder_.path() / "out/a/lead.wav");
  const Json some = run(wanted)[0].report;
  EXPECT_EQ(read_file(bass), mine);
  EXPECT_EQ(some.at("stems").size(), 1U);
  EXPECT_EQ(some.at("kept").size(), 1U);
  const Json none = run(wanted)[0].report;
  EXPECT_FALSE(none.contains("stems"));
  EXPECT_EQ(none.at("kept").size(), 2U);
  EXPECT_THAT(separated_text(none), HasSubstr("a/bass.wav: kept"));
  EXPECT_THAT(separated_text(some), HasSubstr("if their options were the same"));
  for (const auto& other : {testing::noise(44100, 2, 2999), testing::noise(44100, 1, 3000),
                            testing::noise(48000, 2, 3000)}) {
    audio::write_audio(bass, other);
    EXPECT_THAT(message_of([&] { run(wanted); }), HasSubstr("exists, and is no stem of"));
    fs::remove(folder_.path() / "out/a/lead.wav");
    EXPECT_THAT(message_of([&] { run(wanted); }), HasSubstr("exists, and is no stem of"));
    auto lead = wanted;
    lead.outputs.stems = "lead";
    run(lead);
  }
  wanted.outputs.overwrite = true;
  run(wanted);
  EXPECT_EQ(read("a/bass.wav").frames(), 3000);
}

TEST_F(Separate, AMissingFileGetsTheGainOfTheOthers) {
  auto wanted = options({write_song("a.wav", testing::noise(44100, 2, 6000, 0.9))});
  wanted.outputs.two_stems = "drums";
  const double gain_db = run(wanted)[0].report.at("gain_db");
  EXPECT_LT(gain_db, -1);
  for (const char* name : {"a/drums.wav", "a/no_drums.wav"}) {
    const auto before = read(name).samples;
    fs::remove(folder_.path() / "out" / name);
    EXPECT_EQ(run(wanted)[0].report.at("gain_db"), gain_db) << name;
    EXPECT_EQ(read(name).samples, before) << name;
  }
}

TEST_F(Separate, AFaultOfOneSongLeavesTheOthers) {
  write_song("songs/a.wav", testing::noise(44100, 2, 2000));
  write_file(folder_.path() / "songs/b.wav", "no sound");
  write_song("songs/c.wav", testing::noise(8000, 1, 500));
  auto wanted = options({folder_ / "songs"});
  wanted.outputs.stems = "other";
  const auto results = run(wanted);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_THAT(results[1].fault, HasSubstr("b.wav"));
  EXPECT_EQ(results[1].report.at("code"), 65);
  EXPECT_EQ(summary_.exit_code, 65);
  EXPECT_EQ(summary_.faults, 1U);
  EXPECT_THAT(files(), ElementsAre("a/other.wav", "c/other.wav"));
}

TEST_F(Separate, WhoeverTakesTheResultsCanStop) {
  const auto wanted = options({write_song("a.wav", testing::noise(8000, 1, 3000)),
                               write_song("b.wav", testing::noise(8000, 1, 3000))});
  int calls = 0;
  const auto stop = [&](const SeparatedFile&) {
    ++calls;
    fail(ExitCode::kFailure, "stopped");
  };
  EXPECT_EQ(code_of([&] { separate(wanted, stop); }), ExitCode::kFailure);
  EXPECT_EQ(calls, 1);
}

TEST_F(Separate, RefusesWhatCannotWorkBeforeItStarts) {
  const std::string song = write_song("a.wav", testing::noise(44100, 2, 2000));
  const auto refusal = [&](const std::function<void(SeparateOptions&)>& change) {
    auto wanted = options({song});
    change(wanted);
    return message_of([&] { run(wanted); });
  };
  EXPECT_THAT(refusal([](auto& o) { o.outputs.stems = "drums,bas"; }),
              HasSubstr("did you mean 'bass'?"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.stems = "drums,drums"; }), HasSubstr("twice"));
  EXPECT_THAT(
      refusal([](auto& o) { o.outputs.stems = "drums,bass,vocals,lead,chordal,other,rest"; }),
      HasSubstr("no rest"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.two_stems = "rest"; }), HasSubstr("no stem 'rest'"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.filename = "{track}.{ext}"; }),
              HasSubstr("two stems would be named"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.filename = "{artist}/{stem}.{ext}"; }),
              HasSubstr("{artist} has no meaning"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.filename = "../{stem}.{ext}"; }),
              HasSubstr("leads out of the folder"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.flac = o.outputs.float32 = true; }),
              HasSubstr("exclude each other"));
  EXPECT_THAT(refusal([](auto& o) { o.max_seconds = 0; }), HasSubstr("--max-seconds 0"));
  EXPECT_THAT(refusal([&](auto& o) {
                o.outputs.output = folder_.path();
                o.outputs.filename = "a.wav";
                o.outputs.stems = "bass";
              }),
              HasSubstr("is an input and would be overwritten"));
  EXPECT_THAT(files(), ::testing::IsEmpty());
  EXPECT_FALSE(fs::exists(folder_.path() / "out")) << "no empty folder is left";
}

TEST_F(Separate, LeavesNothingOfABadSong) {
  AudioBuffer song = testing::noise(44100, 2, 40000);
  song.samples[70000] = NAN;
  const auto wanted = options({write_song("a.wav", song)});
  EXPECT_THAT(message_of([&] { run(wanted); }), HasSubstr("not finite"));
  EXPECT_THAT(files(), ::testing::IsEmpty());
}

// A limit on file size simulates a full disk: it lacks one byte of the largest file, which an mp3
// writes when it is closed.
TEST_F(Separate, ADiskThatFillsUpAtTheEndLeavesNoFile) {
  auto wanted = options({write_song("a.wav", testing::noise(44100, 2, 9000))});
  wanted.outputs.mp3 = true;
  wanted.outputs.filename = "{stem}.{ext}";
  wanted.clip_mode = ClipMode::kClamp;
  run(wanted);
  const auto size = [&](const std::string& stem) {
    return fs::file_size(folder_.path() / "out" / (stem + ".mp3"));
  };
  std::vector<std::string> stems = {"drums", "bass", "vocals", "lead", "chordal", "other"};
  std::ranges::sort(stems, {}, size);
  const rlim_t largest = size(stems.back());
  ASSERT_LT(size(stems[0]), largest);
  wanted.outputs.stems = stems[0] + "," + stems.back();
  fs::remove_all(folder_.path() / "out");

  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit old {};
  getrlimit(RLIMIT_FSIZE, &old);
  const struct rlimit small { largest - 1, old.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  const ExitCode code = code_of([&] { run(wanted); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ExitCode::kCannotCreate);
  EXPECT_THAT(files(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace hum::app
