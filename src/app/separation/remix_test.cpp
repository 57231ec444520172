// Remixes of a synthetic singer, with tiny weights of Spleeter and the released instruments.
#include "app/separation/remix.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/separation/remixed_song.h"
#include "app/separation/song_separator.h"
#include "app/separation/testing.h"
#include "audio/io.h"
#include "audio/loudness.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/synthesis/hum_voice.h"
#include "eval/metrics/stem_figures.h"
#include "models/testing.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using audio::AudioBuffer;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A singer in all channels, until the end.
AudioBuffer song(int rate_hz, int channels, double level = 0.3) {
  std::vector<audio::Note> notes;
  for (int i = 0; i < 5; ++i) {
    notes.push_back({.start_s = 0.2 + 0.6 * i, .end_s = 0.75 + 0.6 * i, .pitch = 57 + 2 * i});
  }
  auto voice = data::render_hum(notes, 3.1, 1, 3);
  const float peak =
      std::abs(*std::ranges::max_element(voice, {}, [](float sample) { return std::abs(sample); }));
  for (float& sample : voice) sample *= static_cast<float>(level) / peak;
  return audio::widened(audio::resample({22050, 1, std::move(voice)}, rate_hz), channels);
}

TEST(RemixedSong, HearsAStemWhoseChannelsCancelEachOther) {
  const ScratchFolder folder;
  const AudioBuffer voice = song(44100, 1);
  std::vector<float> inverted;
  for (const float sample : voice.samples) inverted.insert(inverted.end(), {sample, -sample});
  RemixedSong remixed(folder.path() / "a.wav", 44100, 2);
  remixed.add(inverted, std::vector<float>(inverted.size()));
  const auto heard = remixed.heard();
  EXPECT_NEAR(eval::level_dbfs(heard), eval::level_dbfs(voice.samples), 1);
}

class RemixSong : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_.emplace();
    testing::write_tiny_spleeter(shared_->path() / "spleeter");
    // The released instruments, without the separator.
    fs::create_directory(instruments());
    for (const auto& part : fs::directory_iterator(weights_folder(""))) {
      if (part.path().filename() == "separator") continue;
      fs::create_symlink(fs::absolute(part.path()), instruments() / part.path().filename());
    }
    models_ = std::make_shared<LoadedModels>(instruments().string());
  }
  static void TearDownTestSuite() {
    models_.reset();
    shared_.reset();
  }

  static fs::path instruments() { return shared_->path() / "instruments"; }
  RemixOptions options(const AudioBuffer& sound) const {
    audio::write_audio(folder_.path() / "song.wav", sound, audio::SampleFormat::kFloat);
    RemixOptions options;
    options.input = folder_ / "song.wav";
    options.outputs.output = folder_ / "out.wav";
    options.sound.bits = Bits::kFloat;
    options.vocals = Vocals::kSpleeter;
    options.spleeter = shared_->path() / "spleeter";
    options.part.weights = instruments().string();
    options.part.preset = "violin";
    return options;
  }
  static Json run(const RemixOptions& options) {
    return remix(options,
                 {.heard = [](const Json&) {}, .progress = [](std::string_view, double) {}},
                 models_);
  }
  AudioBuffer output() const { return audio::read_audio(folder_.path() / "out.wav"); }
  // The mix before it was made softer.
  AudioBuffer mix(const RemixOptions& options, Json& report) const {
    report = run(options);
    AudioBuffer mix = output();
    for (float& sample : mix.samples) {
      sample /= static_cast<float>(audio::from_db(report["gain_db"].get<double>()));
    }
    return mix;
  }
  // The vocals, and the rest.
  static SongSeparator::Sounds stems(const RemixOptions& options) {
    const StemModels models({.weights = options.part.weights,
                             .vocals = options.vocals,
                             .only_vocals = true,
                             .spleeter = options.spleeter});
    audio::SoundReader reader(options.input);
    SongSeparator separator(models, reader.rate_hz(), reader.channels());
    SongSeparator::Sounds stems(2);
    separate_song(
        reader, separator,
        [&](const auto& sounds) {
          for (size_t i = 0; i < 2; ++i) {
            stems[i].insert(stems[i].end(), sounds[i].begin(), sounds[i].end());
          }
        },
        [](int64_t) {});
    return stems;
  }
  static AudioBuffer less(AudioBuffer sound, const std::vector<float>& other) {
    EXPECT_EQ(sound.samples.size(), other.size());
    for (size_t i = 0; i < other.size(); ++i) sound.samples[i] -= other[i];
    return sound;
  }
  static double lufs(const AudioBuffer& sound) {
    return audio::integrated_lufs(sound.samples, sound.rate_hz, sound.channels);
  }
  // Everything but the song.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename() != "song.wav") found.push_back(entry.path().filename());
    }
    std::ranges::sort(found);
    return found;
  }

  ScratchFolder folder_;
  static inline std::optional<ScratchFolder> shared_;
  static inline std::shared_ptr<LoadedModels> models_;
};

TEST_F(RemixSong, HasTheRateTheChannelsAndTheLengthOfTheSong) {
  for (const auto& [rate_hz, channels] : {std::pair{48000, 2}, {22050, 1}, {44100, 3}}) {
    const AudioBuffer original = song(rate_hz, channels);
    const Json report = run(options(original));
    const AudioBuffer mix = output();
    EXPECT_EQ(mix.rate_hz, rate_hz);
    EXPECT_EQ(mix.channels, channels);
    EXPECT_EQ(mix.frames(), original.frames());
    EXPECT_EQ(report["rate_hz"], rate_hz);
    EXPECT_EQ(report["channels"], channels);
    EXPECT_NEAR(report["audio_seconds"].get<double>(), original.seconds(), 1e-9);
  }
}

TEST_F(RemixSong, ThePartReplacesTheStemAtItsLoudness) {
  auto wanted = options(song(44100, 2));
  Json report;
  const AudioBuffer replaced = mix(wanted, report);
  const auto stems = RemixSong::stems(wanted);
  const AudioBuffer stem{44100, 2, stems[0]}, part = less(replaced, stems[1]);
  EXPECT_NEAR(report["stem_lufs"].get<double>(), lufs(stem), 0.01);
  EXPECT_NEAR(lufs(part), lufs(stem), 0.1);
  EXPECT_EQ(report["stem"], "vocals");
  EXPECT_EQ(report["vocals"], "spleeter");
  EXPECT_EQ(report["heard_by"], "ear");
  EXPECT_GE(report["notes"].size(), 4U);
  for (const char* stage : {"read", "load", "separate", "melody", "generate", "write", "total"}) {
    EXPECT_GE(report["seconds"][stage].get<double>(), 0) << stage;
  }
  EXPECT_THAT(remix_text(report), AllOf(HasSubstr("out.wav: vocals ("), HasSubstr(" on violin: ")));

  wanted.keep = true;
  wanted.gain_db = 6;
  const AudioBuffer both = less(mix(wanted, report), stems[1]);
  EXPECT_EQ(report["keep"], true);
  const AudioBuffer louder = less(both, stems[0]);
  EXPECT_NEAR(lufs(louder), lufs(stem) + 6, 0.1);
  for (size_t i = 0; i < part.samples.size(); ++i) {
    ASSERT_NEAR(louder.samples[i], audio::from_db(6) * part.samples[i], 1e-3) << i;
  }
}

TEST_F(RemixSong, ThePartSoundsWhereTheStemWas) {
  AudioBuffer left = song(44100, 2);
  for (size_t i = 1; i < left.samples.size(); i += 2) left.samples[i] = 0;
  const auto wanted = options(left);
  Json report;
  const AudioBuffer part = less(mix(wanted, report), stems(wanted)[1]);
  for (size_t i = 1; i < part.samples.size(); i += 2) ASSERT_NEAR(part.samples[i], 0, 1e-3);
  EXPECT_NEAR(lufs(part), report["stem_lufs"].get<double>(), 0.1);
}

TEST_F(RemixSong, TheLastNoteFadesInsideTheSong) {
  const auto wanted = options(song(44100, 1));
  Json report;
  const AudioBuffer part = less(mix(wanted, report), stems(wanted)[1]);
  ASSERT_GT(report["notes"].back()["end"].get<double>(), part.seconds() - 0.5);
  double loudest = 0;
  for (const float sample : part.samples) loudest = std::max<double>(loudest, std::abs(sample));
  const auto end = std::span(part.samples).last(20);
  for (const float sample : end) EXPECT_LT(std::abs(sample), 0.01 * loudest);
}

TEST_F(RemixSong, KeepsItsLevelUnlessThePeaksWouldClip) {
  EXPECT_EQ(run(options(song(44100, 2, 0.1)))["gain_db"], 0);
  auto loud = options(song(44100, 2, 1));
  loud.gain_db = 12;
  EXPECT_LT(run(loud)["gain_db"], -3);
  const AudioBuffer mix = output();
  EXPECT_NEAR(audio::true_peak_dbtp(mix.samples, 44100, 2), -1, 0.01);
}

TEST_F(RemixSong, ChordsAreHeardAsSeveralNotesAtATime) {
  models::write_tiny_separator(folder_.path() / "weights");
  auto wanted = options(song(44100, 2));
  wanted.part.weights = folder_ / "weights";
  wanted.vocals = Vocals::kOwn;
  for (const auto& [stem, heard_by] : {std::pair{"chordal", "basic-pitch"}, {"lead", "ear"}}) {
    wanted.stem = stem;
    const Json report = run(wanted);
    EXPECT_EQ(report["heard_by"], heard_by);
    EXPECT_EQ(report["stem"], stem);
    EXPECT_EQ(report["vocals"], "own");
  }
}

TEST_F(RemixSong, WritesTheNotesAndAPicture) {
  auto wanted = options(song(44100, 2));
  wanted.outputs.midi = folder_ / "part.mid";
  wanted.outputs.picture = folder_ / "part.png";
  wanted.outputs.output = folder_ / "out.mp3";
  wanted.sound.bits = Bits::k16;
  const Json report = run(wanted);
  EXPECT_THAT(files(), ElementsAre("out.mp3", "part.mid", "part.png"));
  EXPECT_EQ(audio::read_notes(folder_.path() / "part.mid").size(), report["notes"].size());
}

TEST_F(RemixSong, TellsItsStagesAndLeavesNothingWhenStopped) {
  std::vector<std::string> stages;
  const auto wanted = options(song(44100, 2));
  Json heard;
  PerformanceEvents events{.heard =
                               [&](const Json& report) {
                                 EXPECT_EQ(stages.back(), "hear");
                                 heard = report;
                               },
                           .progress =
                               [&](std::string_view stage, double done) {
                                 if (stages.empty() || stages.back() != stage)
                                   stages.emplace_back(stage);
                                 EXPECT_GE(done, 0);
                                 EXPECT_LE(done, 1);
                               }};
  const Json report = remix(wanted, events, models_);
  EXPECT_THAT(stages, ElementsAre("separate", "hear", "play", "write"));
  EXPECT_EQ(heard["notes"], report["notes"]);
  fs::remove(folder_.path() / "out.wav");
  for (const std::string& last : stages) {
    events.progress = [&](std::string_view stage, double) {
      if (stage == last) fail(ExitCode::kFailure, "stopped");
    };
    events.heard = [](const Json&) {};
    EXPECT_EQ(code_of([&] { remix(wanted, events, models_); }), ExitCode::kFailure);
    EXPECT_THAT(files(), ElementsAre()) << last;
  }
}

TEST_F(RemixSong, NamesTheStemThatHasNoMelody) {
  const auto silent = options({44100, 2, std::vector<float>(88200)});
  EXPECT_THAT(message_of([&] { run(silent); }),
              AllOf(HasSubstr("the stem vocals of "), HasSubstr("song.wav is silent"),
                    HasSubstr("--stem names another")));
  EXPECT_EQ(code_of([&] { run(silent); }), ExitCode::kBadData);
  const auto noisy = options(testing::noise(44100, 2, 88200, 0.02));
  EXPECT_THAT(message_of([&] { run(noisy); }),
              AllOf(HasSubstr("no melody was found in the stem vocals of "),
                    HasSubstr("--two-stems vocals lets you hear it"), HasSubstr("--polyphonic")));
  EXPECT_EQ(code_of([&] { run(noisy); }), ExitCode::kBadData);
  const auto brief = options(testing::noise(44100, 2, 4410));
  EXPECT_THAT(message_of([&] { run(brief); }), HasSubstr("only 0.10 s long"));
  EXPECT_THAT(files(), ElementsAre());
}

TEST_F(RemixSong, RefusesWhatCannotWorkBeforeItStarts) {
  const auto refusal = [&](const std::function<void(RemixOptions&)>& change, int channels = 2) {
    auto wanted = options(song(44100, channels));
    change(wanted);
    bool has_started = false;
    const auto message = message_of([&] {
      remix(wanted,
            {.heard = [](const Json&) {},
             .progress = [&](std::string_view, double) { has_started = true; }},
            models_);
    });
    EXPECT_FALSE(has_started) << message;
    return message;
  };
  EXPECT_THAT(refusal([](auto& o) { o.stem = "drums"; }), HasSubstr("drums play no melody"));
  EXPECT_THAT(refusal([](auto& o) { o.stem = "vocal"; }), HasSubstr("did you mean 'vocals'?"));
  EXPECT_THAT(refusal([](auto& o) { o.stem = "rest"; }), HasSubstr("no stem 'rest'"));
  EXPECT_THAT(refusal([](auto& o) { o.gain_db = NAN; }), HasSubstr("--gain nan is outside"));
  EXPECT_THAT(refusal([](auto& o) { o.part.preset = "kazoo"; }), HasSubstr("kazoo"));
  EXPECT_THAT(refusal([](auto& o) { o.part.max_seconds = 3; }), HasSubstr("the limit is 3 s"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.output = o.input; }),
              HasSubstr("is an input and would be overwritten"));
  EXPECT_THAT(refusal([](auto& o) { o.outputs.output += ".flac"; }), HasSubstr("float"));
  EXPECT_THAT(refusal(
                  [](auto& o) {
                    o.outputs.output += ".mp3";
                    o.sound.bits = Bits::k16;
                  },
                  3),
              HasSubstr("cannot hold 3 channels"));
  EXPECT_THAT(refusal([this](auto& o) { o.input = folder_.path(); }), HasSubstr("is a folder"));
  EXPECT_THAT(refusal([](auto& o) { o.spleeter = "nosuch"; }), HasSubstr("make fetch-spleeter"));
  EXPECT_THAT(refusal([this](auto& o) {
                o.part.weights = folder_.path();
                o.stem = "lead";
              }),
              AllOf(HasSubstr("these weights have no separator"),
                    HasSubstr("hum remix SONG --stem vocals")));
  EXPECT_THAT(files(), ElementsAre());
}

}  // namespace
}  // namespace hum::app
