#include "data/synthesis/fluid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.h"
#include "data/synthesis/fluid_events_impl.h"
#include "data/synthesis/presets.h"
#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

using testing::amplitude_at;
using testing::between;
using testing::measured_pitch;
using testing::rms;

const std::vector<audio::Note> kScale = {{0.0, 0.45, 60, 0.7, {}},
                                         {0.5, 0.95, 64, 0.7, {}},
                                         {1.0, 1.45, 67, 0.7, {}},
                                         {1.5, 1.95, 72, 0.7, {}}};

// 24 bends over the note: none in the first third, then `thirds`.
std::vector<int> late_bend(int thirds) {
  std::vector<int> bends(24, thirds);
  std::fill_n(bends.begin(), 8, 0);
  return bends;
}

// Sum over the first four harmonics of a pitch: of each, the largest amplitude at nine tunings 10
// cents apart.
double harmonic_sum(std::span<const float> samples, int pitch) {
  double sum = 0;
  for (int k = 1; k <= 4; ++k) {
    double best = 0;
    for (int step = -4; step <= 4; ++step) {
      best = std::max(best, amplitude_at(samples, k * audio::midi_to_hz(pitch + 0.1 * step)));
    }
    sum += best;
  }
  return sum;
}

// Every preset on every sound font. Fonts on request are not among the packages of the tests.
class SoundFonts : public ::testing::TestWithParam<SoundFont> {
 protected:
  void SetUp() override {
    if (GetParam().use == FontUse::kFetched && !std::filesystem::exists(GetParam().path)) {
      GTEST_SKIP() << "apt install " << GetParam().package;
    }
    renderer_.emplace(installed_path(GetParam()));
  }
  std::optional<FluidRenderer> renderer_;
};
INSTANTIATE_TEST_SUITE_P(All, SoundFonts,
                         ::testing::ValuesIn(sound_fonts().begin(), sound_fonts().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(SoundFonts, PlayEveryPresetAtTheWrittenPitch) {
  for (const Preset& preset : presets()) {
    const int pitch = std::clamp(67, preset.low + 6, preset.high - 6);
    const audio::Note note{0, 1, pitch, 0.7, {}};
    const auto samples = renderer_->render({&note, 1}, preset.program, 1);
    ASSERT_EQ(samples.size(), 22050U);
    const auto part = between(samples, 0.08, 0.3);
    const double here = harmonic_sum(part, pitch);
    double beside = 0;
    for (const int off : {-2, -1, 1, 2}) {
      beside = std::max(beside, harmonic_sum(part, pitch + off));
    }
    EXPECT_EQ(here > beside, preset.name != GetParam().off_pitch) << preset.name;
  }
}

TEST_P(SoundFonts, SoundOnEveryNoteOfAPresetsRange) {
  for (const Preset& preset : presets()) {
    for (const int pitch : {preset.low, (preset.low + preset.high) / 2, preset.high}) {
      const audio::Note note{0, 0.5, pitch, 0.7, {}};
      const auto samples = renderer_->render({&note, 1}, preset.program, 0.5);
      EXPECT_GT(rms(samples), 5e-4) << preset.name << " " << pitch;
    }
  }
}

TEST(FluidRenderer, PlaysMelodicInstrumentsInTheWrittenOctave) {
  FluidRenderer renderer;
  for (const auto* name : {"piano", "violin", "flute", "clarinet", "trumpet", "oboe", "cello"}) {
    for (const int pitch : {62, 67, 72}) {
      const audio::Note note{0, 1, pitch, 0.7, {}};
      const auto samples = renderer.render({&note, 1}, find_preset(name).program, 1);
      EXPECT_NEAR(measured_pitch(between(samples, 0.2, 0.7)), pitch, 0.35) << name;
    }
  }
}

TEST(FluidRenderer, MovesThePitchWithTheBends) {
  FluidRenderer renderer;
  for (const int thirds : {-9, 6, 24}) {
    const audio::Note note{0, 1.2, 67, 0.7, late_bend(thirds)};
    const auto samples = renderer.render({&note, 1}, find_preset("flute").program, 1.2);
    EXPECT_NEAR(measured_pitch(between(samples, 0.1, 0.3)), 67, 0.2);
    EXPECT_NEAR(measured_pitch(between(samples, 0.7, 1.0)), 67 + thirds / 3.0, 0.2);
  }
}

TEST(FluidRenderer, LeavesOtherNotesAloneWhenOneBends) {
  FluidRenderer renderer;
  const std::vector<audio::Note> notes = {{0, 0.6, 60, 0.7, std::vector<int>(24, 9)},
                                          {0.6, 1.2, 65, 0.7, {}}};
  const auto samples = renderer.render(notes, find_preset("flute").program, 1.2);
  EXPECT_NEAR(measured_pitch(between(samples, 0.2, 0.5)), 63, 0.2);
  EXPECT_NEAR(measured_pitch(between(samples, 0.9, 1.15)), 65, 0.2);
}

TEST(FluidRenderer, GrowsLouderWithAmplitudeAndExpression) {
  FluidRenderer renderer;
  auto level = [&](double amplitude, std::span<const ExpressionPoint> expression) {
    const audio::Note note{0, 1, 67, amplitude, {}};
    return rms(renderer.render({&note, 1}, 40, 1, expression));
  };
  EXPECT_GT(level(0.9, {}), 1.5 * level(0.5, {}));
  const std::vector<ExpressionPoint> soft = {{0.0, 0.5}};
  EXPECT_LT(level(0.9, soft), 0.6 * level(0.9, {}));
}

TEST(FluidRenderer, StartsNotesOnTimeAndStaysBelowFullScale) {
  FluidRenderer renderer;
  const audio::Note note{0.5, 1, 72, 1, {}};
  const auto samples = renderer.render({&note, 1}, find_preset("piano").program, 1);
  EXPECT_LT(rms(between(samples, 0, 0.495)), 1e-4);
  EXPECT_GT(rms(between(samples, 0.505, 0.55)), 1e-3);
  std::vector<audio::Note> chord;
  chord.reserve(10);
  for (int k = 0; k < 10; ++k) chord.push_back({0, 1, 48 + 4 * k, 1, {}});
  for (const float sample : renderer.render(chord, 19, 1)) ASSERT_LT(std::fabs(sample), 1);
}

TEST(FluidRenderer, GivesTheSameSamplesWhateverWasRenderedBefore) {
  FluidRenderer fresh;
  FluidRenderer used;
  for (const int program : {0, 52, 19, 40}) used.render(kScale, program, 1.3);
  for (const int program : {0, 48, 73}) {
    EXPECT_EQ(fresh.render(kScale, program, 2), used.render(kScale, program, 2)) << program;
  }
}

TEST(FluidRenderer, GivesTheSameSamplesInSeveralThreads) {
  FluidRenderer renderer;
  const auto expected = renderer.render(kScale, 0, 2);
  std::vector<std::vector<float>> results(3);
  {
    std::vector<std::jthread> threads;
    threads.reserve(results.size());
    for (auto& result : results) {
      threads.emplace_back([&result] { result = FluidRenderer().render(kScale, 0, 2); });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(FluidRenderer, RendersTwoChannelsWhoseMeanIsTheMonoSound) {
  FluidRenderer renderer;
  const int piano = find_preset("piano").program;
  const auto mono = renderer.render(kScale, piano, 2);
  const auto stereo = renderer.render_stereo(kScale, piano, 2);
  EXPECT_EQ(stereo.rate_hz, kSampleRate);
  ASSERT_EQ(stereo.frames(), static_cast<int64_t>(mono.size()));
  std::vector<float> side;
  for (size_t i = 0; i < mono.size(); ++i) {
    const float left = stereo.samples[2 * i], right = stereo.samples[2 * i + 1];
    ASSERT_NEAR((left + right) / 2, mono[i], 1e-6) << i;
    side.push_back((left - right) / 2);
  }
  EXPECT_GT(rms(side), 0.1 * rms(mono));  // sampled with two microphones
}

TEST(FluidRenderer, PlaysDrumsByTheirKeys) {
  FluidRenderer renderer;
  auto struck = [&](int key, int program) {
    return renderer.render(std::vector<audio::Note>{{0, 0.2, key, 0.8, {}}}, program, 1);
  };
  // Zero crossings while the sound is loud: few for a kick, as many as in noise for a hat.
  auto crossings = [](const std::vector<float>& sound) {
    int count = 0;
    for (size_t i = 1; i < kSampleRate / 20; ++i) count += (sound[i - 1] < 0) != (sound[i] < 0);
    return count;
  };
  const auto kick = struck(36, kDrumKit), hat = struck(42, kDrumKit);
  EXPECT_LT(crossings(kick), 100);
  EXPECT_GT(crossings(hat), 300);
  EXPECT_NE(kick, struck(36, 0));
}

TEST(FluidRenderer, NamesThePackageWhenTheFontIsMissing) {
  try {
    installed_path({"none", "/nowhere/font.sf2", "none-soundfont", FontUse::kTraining});
    FAIL() << "installed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
    EXPECT_EQ(error.hint(), "apt install none-soundfont");
  }
  EXPECT_THROW(find_sound_font("fluidr"), Error);
  EXPECT_THROW(FluidRenderer("/nowhere/font.sf2"), Error);
  setenv("HUM_SOUND_FONT", "/nowhere/font.sf2", 1);
  EXPECT_THROW(sound_font_path(), Error);
  unsetenv("HUM_SOUND_FONT");
}

TEST(FluidEvents, SendWheelBeforeNoteOnAndOffBeforeBoth) {
  using internal::FluidAction;
  const std::vector<audio::Note> notes = {{0, 0.5, 60, 0.5, {}}, {0.5, 1, 60, 0.5, {}}};
  const auto events = internal::fluid_events(notes, {});
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0].action, FluidAction::kWheel);
  EXPECT_EQ(events[1].action, FluidAction::kNoteOn);
  EXPECT_EQ(events[2].action, FluidAction::kNoteOff);
  EXPECT_EQ(events[2].channel, events[1].channel);
  EXPECT_NE(events[4].channel, events[1].channel);
  EXPECT_EQ(events[2].block, events[4].block);
  for (const auto& event : events) EXPECT_NE(event.channel, 9);
}

}  // namespace
}  // namespace hum::data
