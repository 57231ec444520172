// Stems of any rate and channel count, with tiny models.
#include "app/separation/song_separator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/separation/testing.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "models/testing.h"

namespace hum::app {
namespace {

using audio::AudioBuffer;
using models::append;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::noise;
using Sounds = SongSeparator::Sounds;

Sounds separated(const AudioBuffer& song, SongSeparator& separator, size_t block_frames = 5000) {
  Sounds stems;
  const size_t block = block_frames * static_cast<size_t>(song.channels);
  for (size_t at = 0; at < song.samples.size(); at += block) {
    const auto next =
        std::span(song.samples).subspan(at, std::min(block, song.samples.size() - at));
    append(stems, separator.push(next));
  }
  append(stems, separator.finish());
  return stems;
}

void expect_sum(const Sounds& stems, const AudioBuffer& song) {
  for (const auto& stem : stems) ASSERT_EQ(stem.size(), song.samples.size());
  for (size_t i = 0; i < song.samples.size(); ++i) {
    float sum = 0;
    for (const auto& stem : stems) sum += stem[i];
    ASSERT_NEAR(sum, song.samples[i], 1e-6) << i;
  }
}

class TinyModels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_.emplace();
    models::write_tiny_separator(folder_->path());
    testing::write_tiny_spleeter(folder_->path() / "spleeter");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static StemModelOptions options(Vocals vocals) {
    return {.weights = folder_->path(),
            .vocals = vocals,
            .only_vocals = false,
            .spleeter = folder_->path() / "spleeter"};
  }

  static inline std::optional<ScratchFolder> folder_;
};

TEST_F(TinyModels, StemsAddUpToTheSongAtAnyRateAndChannelCount) {
  for (const Vocals vocals : {Vocals::kOwn, Vocals::kSpleeter}) {
    const StemModels models(options(vocals));
    EXPECT_EQ(models.vocals(), vocals);
    EXPECT_EQ(models.stems().size(), 6U);
    for (const AudioBuffer& song :
         {noise(44100, 2, 20011), noise(48000, 2, 15000), noise(8000, 1, 3001), noise(44100, 1, 1),
          noise(44100, 2, 0), noise(96000, 5, 9999)}) {
      SCOPED_TRACE(fmt::format("{} channels at {} Hz", song.channels, song.rate_hz));
      SongSeparator separator(models, song.rate_hz, song.channels);
      const Sounds stems = separated(song, separator);
      ASSERT_EQ(stems.size(), 6U);
      expect_sum(stems, song);
      ASSERT_EQ(separator.moved_db().has_value(), !song.samples.empty());
      if (song.rate_hz == 44100) {
        EXPECT_LT(separator.moved_db().value_or(-200), -60);
      }
    }
  }
}

TEST_F(TinyModels, SpleetersVocalsComeFirst) {
  const StemModels own(options(Vocals::kOwn)), spleeter(options(Vocals::kSpleeter));
  auto only = options(Vocals::kSpleeter);
  only.weights = folder_->path() / "empty";
  std::filesystem::create_directories(only.weights);
  only.only_vocals = true;
  const StemModels alone(only);
  EXPECT_THAT(alone.stems(), ElementsAre("vocals"));
  const AudioBuffer song = noise(44100, 2, 30000);
  SongSeparator by_own(own, 44100, 2), by_both(spleeter, 44100, 2), by_spleeter(alone, 44100, 2);
  const Sounds ours = separated(song, by_own), both = separated(song, by_both),
               theirs = separated(song, by_spleeter);
  EXPECT_THAT(by_spleeter.stems(), ElementsAre("vocals", "rest"));
  expect_sum(theirs, song);
  EXPECT_FALSE(by_spleeter.moved_db());
  EXPECT_NE(ours[2], both[2]);
  // Alike except above 11 kHz, where Spleeter's are silent.
  double shared = 0, energy = 0, difference = 0;
  for (size_t i = 0; i < theirs[0].size(); ++i) {
    shared += static_cast<double>(both[2][i]) * theirs[0][i];
    energy += static_cast<double>(theirs[0][i]) * theirs[0][i];
    difference += std::pow(both[2][i] - theirs[0][i], 2);
  }
  EXPECT_NEAR(shared / energy, 1, 0.05);
  EXPECT_GT(difference, 0.01 * energy) << "our own have more above 11 kHz";
}

TEST_F(TinyModels, TheSameStemsHoweverTheSongComes) {
  const StemModels models(options(Vocals::kSpleeter));
  const AudioBuffer song = noise(22050, 3, 6000);
  SongSeparator first(models, 22050, 3), second(models, 22050, 3);
  const Sounds once = separated(song, first, 6000), often = separated(song, second, 77);
  for (size_t stem = 0; stem < once.size(); ++stem) {
    for (size_t i = 0; i < once[stem].size(); ++i) {
      ASSERT_NEAR(once[stem][i], often[stem][i], 1e-6);
    }
  }
}

TEST_F(TinyModels, RefuseWhatTakesTooMuchMemory) {
  const StemModels models(options(Vocals::kOwn));
  const auto refusal = [&](int rate_hz, int channels) {
    return hum::testing::message_of([&] { SongSeparator(models, rate_hz, channels); });
  };
  EXPECT_THAT(refusal(10, 1), HasSubstr("cannot separate 1 channel at 10 Hz"));
  EXPECT_THAT(refusal(44100, 65), HasSubstr("at most 64 channels"));
}

TEST_F(TinyModels, SilenceHasNoLevelThatMoved) {
  const StemModels models(options(Vocals::kOwn));
  SongSeparator separator(models, 44100, 2);
  const Sounds stems = separated(noise(44100, 2, 9000, 0), separator);
  expect_sum(stems, noise(44100, 2, 9000, 0));
  EXPECT_FALSE(separator.moved_db());
}

TEST_F(TinyModels, RefuseSamplesThatOverflow) {
  const StemModels models(options(Vocals::kOwn));
  SongSeparator separator(models, 44100, 2);
  const AudioBuffer song = noise(44100, 2, 20000, 1e30);
  EXPECT_THAT(hum::testing::message_of([&] { separated(song, separator); }),
              HasSubstr("not finite"));
}

TEST_F(TinyModels, AreLoadedOnceUntilOthersAreInstalled) {
  StemModelOptions wanted = options(Vocals::kAuto);
  wanted.spleeter = folder_->path() / "later";
  SharedStemModels shared(wanted);
  const auto models = shared.get();
  EXPECT_EQ(models->vocals(), Vocals::kOwn);
  EXPECT_EQ(shared.get(), models);
  testing::write_tiny_spleeter(wanted.spleeter);
  EXPECT_EQ(shared.get()->vocals(), Vocals::kSpleeter);
}

TEST(StemModelsWithout, WeightsSayWhatWorks) {
  const ScratchFolder folder;
  StemModelOptions options{.weights = folder.path(), .spleeter = folder.path() / "none"};
  const auto open = [&] { StemModels models(options); };
  EXPECT_EQ(hum::testing::code_of(open), ExitCode::kNoInput);
  EXPECT_THAT(hum::testing::message_of(open),
              ::testing::AllOf(HasSubstr("no separator"), HasSubstr("make fetch-spleeter, then"),
                               HasSubstr("--two-stems vocals --vocals spleeter")));
  options.vocals = Vocals::kSpleeter;
  EXPECT_THAT(hum::testing::message_of(open), HasSubstr("no separator"));
  options.only_vocals = true;
  EXPECT_THAT(hum::testing::message_of(open), HasSubstr("no weights of Spleeter"));
}

}  // namespace
}  // namespace hum::app
