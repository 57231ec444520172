#include "pipeline/generate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "audio/loudness.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"
#include "pipeline/windows.h"

namespace hum::pipeline {
namespace {

using audio::Note;

std::vector<Note> melody(double seconds) {
  std::vector<Note> notes;
  for (double at_s = 0.1; at_s + 0.7 < seconds; at_s += 0.8) {
    notes.push_back({at_s, at_s + 0.7, 60 + static_cast<int>(notes.size() % 5), 0.6, {0, 1, 0}});
  }
  return notes;
}

constexpr WindowLayout kLayout{.window_frames = 30, .context_frames = 5, .fade_frames = 4};

// Joins windows of the kLayout. window(w): the rows of window w, which begin at its first frame.
std::vector<float> stitch(int64_t frames, int64_t width,
                          const std::function<std::vector<float>(int64_t w)>& window) {
  Stitcher stitcher(frames, width, kLayout.fade_frames);
  for (int64_t w = 0; w < kLayout.windows(frames); ++w) {
    stitcher.add(kLayout.first_frame(w), window(w), kLayout.fade_start(w));
  }
  return std::move(stitcher).take();
}

class StitchLength : public testing::TestWithParam<int64_t> {};

TEST_P(StitchLength, GivesBackATableThatWindowsOnlyCut) {
  const int64_t frames = GetParam(), width = 3;
  std::vector<float> table(static_cast<size_t>(frames * width));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const auto stitched = stitch(frames, width, [&](int64_t w) {
    return cut_rows(table, width, kLayout.first_frame(w), kLayout.window_frames);
  });
  ASSERT_EQ(stitched.size(), table.size());
  for (size_t i = 0; i < table.size(); ++i) EXPECT_NEAR(stitched[i], table[i], 1e-3) << i;
}

INSTANTIATE_TEST_SUITE_P(Frames, StitchLength,
                         testing::Values(1, 29, 30, 31, 49, 50, 51, 70, 71, 333));

TEST(Stitch, FadesBetweenWindowsInTheMiddleOfTheirOverlap) {
  // All values of window w are w, so that seams are visible.
  const auto stitched =
      stitch(50, 1, [](int64_t w) { return std::vector<float>(30, static_cast<float>(w)); });
  EXPECT_EQ(stitched[22], 0);
  EXPECT_EQ(stitched[27], 1);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(stitched[static_cast<size_t>(23 + i)], (static_cast<double>(i) + 0.5) / 4, 1e-6);
  }
}

TEST(Windows, AreAsManyAsThePieceNeeds) {
  EXPECT_EQ(kLayout.windows(1), 1);
  EXPECT_EQ(kLayout.windows(30), 1);
  EXPECT_EQ(kLayout.windows(31), 2);
  EXPECT_EQ(kLayout.windows(50), 2);
  EXPECT_EQ(kLayout.windows(51), 3);
}

// An instrument that returns one of the renderer's inputs.
Instrument passing(const std::function<std::vector<float>(std::span<const float> latents,
                                                          std::span<const float> excitation,
                                                          std::span<const float> noise)>& pick) {
  Instrument result{.latent = data::kAllMelodyFeatures};
  result.latents = one_by_one<LatentWindow>([](const auto& window) { return window.melody; });
  result.render = one_by_one<SoundWindow>(
      [pick](const auto& window) { return pick(window.latents, window.excitation, window.noise); });
  return result;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

class PlayLength : public testing::TestWithParam<double> {};

TEST_P(PlayLength, HandsOutAnExcitationWithoutSeams) {
  const auto notes = melody(GetParam());
  const auto played =
      play(notes, passing([](auto, auto excitation, auto) { return copy(excitation); }), 1);
  const auto frames = static_cast<int64_t>(std::ceil((end_of(notes) + kMaxRelease_s) * 50));
  ASSERT_EQ(static_cast<int64_t>(played.size()), frames * data::kFrameSamples);
  const auto whole = data::render_excitation(notes, frames * data::kFrameSamples);
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(played[i], whole[i], 1e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Seconds, PlayLength, testing::Values(1.0, 4.0, 9.0, 21.0));

TEST(Play, HandsOutTheMelodyOfEachWindowAndItsLatents) {
  const auto notes = melody(13);
  std::vector<std::vector<float>> windows;
  Instrument instrument = passing([](auto latents, auto, auto) {
    std::vector<float> samples(static_cast<size_t>(kWindowFrames * data::kFrameSamples));
    for (size_t i = 0; i < samples.size(); ++i) {
      samples[i] = latents[i / data::kFrameSamples * data::kAllMelodyFeatures];  // the pitch
    }
    return samples;
  });
  int64_t last_done = 0, last_total = 0;
  instrument.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(done, last_done + 1);
    last_done = done;
    last_total = total;
  };
  const auto played = play(notes, instrument, 1);
  EXPECT_EQ(last_done, last_total);
  const auto frames = static_cast<int64_t>(played.size()) / data::kFrameSamples;
  const auto features = data::melody_features(notes, frames);
  for (int64_t t = 0; t < frames; ++t) {
    ASSERT_NEAR(played[static_cast<size_t>(t * data::kFrameSamples)],
                features[static_cast<size_t>(t * data::kMelodyFeatures)], 1e-5)
        << t;
  }
}

// The renderer has half a second of context on both sides. Samples that are handed out early must
// not depend on latents that are not final.
TEST(Play, HandsOutEarlyWhatItWouldHaveHandedOutLate) {
  const auto notes = melody(13);
  auto make = [](int64_t quick_frames) {
    Instrument instrument = passing([](auto latents, auto, auto) {
      std::vector<float> samples(static_cast<size_t>(kWindowFrames * data::kFrameSamples));
      for (int64_t t = 0; t < kWindowFrames; ++t) {
        float sum = 0;
        for (int64_t s = std::max<int64_t>(0, t - 24); s < std::min(kWindowFrames, t + 25); ++s) {
          sum += latents[static_cast<size_t>(s * data::kAllMelodyFeatures)];
        }
        samples[static_cast<size_t>(t * data::kFrameSamples)] = sum;
      }
      return samples;
    });
    // Rows past the requested ones are invalid, and those just before may still change.
    instrument.latents = one_by_one<LatentWindow>([](const auto& window) {
      std::vector<float> rows = window.melody;
      const auto sure = window.frames == kWindowFrames ? window.frames : window.frames - 24;
      std::fill(rows.begin() + sure * data::kAllMelodyFeatures, rows.end(), 99.0F);
      return rows;
    });
    instrument.quick_frames = quick_frames;
    return instrument;
  };
  std::vector<float> early;
  std::vector<size_t> parts;
  int64_t last_done = 0, last_total = 0;
  Instrument quick = make(150);
  quick.progress = [&](int64_t done, int64_t total) {
    last_done = done;
    last_total = total;
  };
  play(notes, quick, 1, [&](std::span<const float> part) {
    early.insert(early.end(), part.begin(), part.end());
    parts.push_back(part.size());
  });
  EXPECT_EQ(parts[0], 98U * data::kFrameSamples);
  EXPECT_EQ(last_done, last_total);
  const auto late = play(notes, make(0), 1);
  ASSERT_EQ(early.size(), late.size());
  for (size_t i = 0; i < late.size(); ++i) ASSERT_NEAR(early[i], late[i], 1e-3) << i;
  size_t handed_out = 0;
  const auto kept = play_and_keep(notes, quick, 1,
                                  [&](std::span<const float> part) { handed_out += part.size(); });
  EXPECT_EQ(kept, late) << "bit for bit";
  EXPECT_EQ(handed_out, late.size());
  EXPECT_EQ(last_done, last_total);
}

// A decoder that reads all features and rings for 2 s.
TEST(Play, StreamsLongTailsAndAllFeaturesAsItPlaysThem) {
  std::vector<Note> notes;
  for (int i = 0; i < 7; ++i) notes.push_back({2.0 * i, 2.0 * i + 0.3, 60 + i, 0.6, {}});
  auto instrument = passing([](auto latents, auto excitation, auto) {
    auto samples = copy(excitation);
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto row = latents.subspan(i / data::kFrameSamples * data::kAllMelodyFeatures,
                                       data::kAllMelodyFeatures);
      for (const float feature : row) samples[i] += feature;
    }
    return samples;
  });
  instrument.excitation_tail_s = 2;
  const auto streamed = [&] {
    std::vector<float> sound;
    play(notes, instrument, 1,
         [&](std::span<const float> part) { sound.insert(sound.end(), part.begin(), part.end()); });
    return sound;
  };
  const auto played = play(notes, instrument, 1);
  EXPECT_EQ(streamed(), played);
  instrument.decay_db = [](double, int64_t age) { return -0.5 * static_cast<double>(age); };
  const auto dying = play(notes, instrument, 1);
  EXPECT_EQ(streamed(), dying);
  EXPECT_EQ(play_and_keep(notes, instrument, 1, [](std::span<const float>) {}), dying);
  const auto at = static_cast<size_t>(data::sample_of(6.2));  // 10 frames old
  EXPECT_NEAR(dying[at] / played[at], std::pow(10, -5.0 / 20), 1e-4);
  const auto tails = data::render_excitation(notes, std::ssize(played), 2);
  const auto features = data::melody_features(notes, std::ssize(played) / data::kFrameSamples,
                                              data::kAllMelodyFeatures);
  for (size_t i = 0; i < played.size(); ++i) {
    float expected = tails[i];
    const size_t row = i / data::kFrameSamples * data::kAllMelodyFeatures;
    for (size_t column = 0; column < data::kAllMelodyFeatures; ++column) {
      expected += features[row + column];
    }
    ASSERT_NEAR(played[i], expected, 1e-4) << i;
  }
}

// Pieces of one, two and three windows, whose windows share calls.
TEST(Play, PlaysPiecesTogetherAsEachAlone) {
  std::vector<size_t> latent_calls;
  auto together = [&](int64_t most) {
    Instrument instrument{.latent = data::kAllMelodyFeatures, .together = most};
    instrument.latents = [&](std::span<const LatentWindow> windows) {
      latent_calls.push_back(windows.size());
      std::vector<std::vector<float>> results;
      for (const auto& window : windows) {
        results.push_back(window.melody);
        for (float& x : results.back()) {
          x += static_cast<float>(window.seed) + 0.1F * static_cast<float>(window.window);
        }
      }
      return results;
    };
    instrument.render = one_by_one<SoundWindow>([](const auto& window) {
      auto samples = window.noise;
      for (size_t i = 0; i < samples.size(); ++i) {
        samples[i] += window.latents[i / data::kFrameSamples * data::kAllMelodyFeatures];
      }
      return samples;
    });
    return instrument;
  };
  const std::vector<Piece> pieces = {{melody(3), 4}, {melody(7), 5}, {melody(9), 6}};
  const auto all = play(pieces, together(4));
  EXPECT_EQ(latent_calls, (std::vector<size_t>{3, 3})) << "six windows, at most four per call";
  ASSERT_EQ(all.size(), pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(all[i], play(pieces[i].notes, together(1), pieces[i].seed)) << i;
    std::vector<float> streamed;
    play(pieces[i].notes, together(1), pieces[i].seed, [&](std::span<const float> part) {
      streamed.insert(streamed.end(), part.begin(), part.end());
    });
    EXPECT_EQ(all[i], streamed) << i;
  }
  latent_calls.clear();
  play(std::span(pieces).first(2), together(4));
  EXPECT_EQ(latent_calls, (std::vector<size_t>{1, 1, 1})) << "fewer than four in total";
  EXPECT_TRUE(play(std::vector<Piece>{}, together(4)).empty());
}

TEST(Play, KeepsTheChannelsOfAnInstrumentApart) {
  auto mono = passing([](auto, auto excitation, auto) { return copy(excitation); });
  auto stereo = passing([](auto, auto excitation, auto noise) {
    std::vector<float> both;
    for (size_t i = 0; i < noise.size(); ++i) both.insert(both.end(), {excitation[i], noise[i]});
    return both;
  });
  stereo.channels = 2;
  const auto notes = melody(9);
  const auto left = play(notes, mono, 7), both = play(notes, stereo, 7);
  std::vector<float> streamed;
  play(notes, stereo, 7, [&](std::span<const float> part) {
    streamed.insert(streamed.end(), part.begin(), part.end());
  });
  EXPECT_EQ(streamed, both);
  ASSERT_EQ(both.size(), 2 * left.size());
  for (size_t i = 0; i < left.size(); ++i) ASSERT_EQ(both[2 * i], left[i]) << i;
  EXPECT_NE(both[1001], 0);
}

TEST(Play, DrawsNoiseFromItsSeedAlone) {
  const auto notes = melody(9);
  const auto noise = passing([](auto, auto, auto part) { return copy(part); });
  EXPECT_EQ(play(notes, noise, 7), play(notes, noise, 7));
  EXPECT_NE(play(notes, noise, 7), play(notes, noise, 8));
}

std::vector<float> decaying(double seconds, double decay_per_s) {
  auto samples = audio::tone(440, seconds, data::kSampleRate, 0.9);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] *=
        static_cast<float>(std::exp(-decay_per_s * static_cast<double>(i) / data::kSampleRate));
  }
  return samples;
}

TEST(Finish, EndsWhenTheReleaseHasDiedAway) {
  // 60 dB down after ln(1000) / 4 = 1.73 s.
  const auto sound = finish(decaying(3, 4), 1, {.rate_hz = 22050});
  EXPECT_NEAR(sound.seconds(), 1.73, 0.03);
  EXPECT_NEAR(sound.samples.back(), 0, 1e-4);
}

TEST(Finish, NeverEndsBeforeTheMelodyNorTwoSecondsAfterIt) {
  EXPECT_NEAR(finish(decaying(6, 0), 1, {.rate_hz = 22050}).seconds(), 3, 0.001);
  EXPECT_NEAR(finish(decaying(6, 40), 1, {.rate_hz = 22050}).seconds(), 1.1, 0.001);
}

TEST(Finish, DeliversTheLevelTheRateAndTheChannels) {
  for (const int rate_hz : {22050, 44100, 48000}) {
    for (const int channels : {1, 2}) {
      const auto sound = finish(decaying(3, 0.1), 1, {.rate_hz = rate_hz, .channels = channels});
      EXPECT_EQ(sound.rate_hz, rate_hz);
      EXPECT_EQ(sound.channels, channels);
      EXPECT_NEAR(audio::integrated_lufs(sound.samples, rate_hz, channels), -16, 0.1);
      EXPECT_LE(audio::true_peak_dbtp(sound.samples, rate_hz, channels), -0.99);
    }
  }
}

TEST(Finish, OfTwoChannelsIsThatOfTheirSound) {
  const auto one = decaying(3, 4);
  std::vector<float> both;
  for (const float sample : one) both.insert(both.end(), {sample, -0.3F * sample});
  const auto mono = finish(one, 1, {.rate_hz = 22050});
  for (const int channels : {1, 2}) {
    const auto sound =
        finish(both, 1, {.rate_hz = 22050, .sound_channels = 2, .channels = channels});
    EXPECT_EQ(sound.channels, 2);
    EXPECT_EQ(sound.frames(), mono.frames());
    EXPECT_NEAR(audio::integrated_lufs(sound.samples, 22050, 2), -16, 0.1);
    for (size_t i = 0; i < sound.samples.size(); i += 2) {
      ASSERT_NEAR(sound.samples[i + 1], -0.3 * sound.samples[i], 1e-6) << i;
    }
    const float gain = sound.samples[100] / mono.samples[50];
    for (size_t i = 0; i < mono.samples.size(); i += 97) {
      EXPECT_NEAR(sound.samples[2 * i], gain * mono.samples[i], 1e-5) << i;
    }
  }
}

TEST(Finish, RefusesSamplesThatAreNotNumbers) {
  auto samples = decaying(3, 1);
  samples[100] = std::nanf("");
  EXPECT_THROW(finish(samples, 1, {}), Error);
}

}  // namespace
}  // namespace hum::pipeline
