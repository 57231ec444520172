// Spleeter's network against its definition, and the Separator against the network, at a tiny size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "audio/dsp.h"
#include "base/fields_json.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "models/spleeter/separator.h"
#include "models/spleeter/test_reference.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::spleeter {
namespace {

using audio::AudioBuffer;
using hum::testing::code_of;
using hum::testing::message_of;
using runtime::HostTensor;
using ::testing::HasSubstr;

void write_tiny_weights(const std::filesystem::path& folder, SpleeterConfig config) {
  const Spleeter model(config);
  runtime::Weights weights{{{"model_type", "spleeter"}, {"model", to_json(config)}}, {}};
  for (const auto& parameter : model.parameters().all()) {
    weights.tensors.emplace_back(parameter.name, tiny_weight(parameter));
  }
  runtime::write_weights(folder, weights, graph::DType::kF32);
}

AudioBuffer noise(int64_t frames) {
  Rng rng(3, "song");
  AudioBuffer song{kSampleRateHz, kChannels, {}};
  for (int64_t i = 0; i < kChannels * frames; ++i) {
    song.samples.push_back(static_cast<float>(rng.uniform(-0.5, 0.5)));
  }
  return song;
}

TEST(Spleeter, MasksAreThoseOfTheDefinition) {
  const Spleeter model(tiny_config());
  Map mixture(8, 32, kChannels);
  Rng rng(5, "mixture");
  for (double& value : mixture.values) value = static_cast<float>(rng.uniform(0, 4));
  const std::vector<float> numbers(mixture.values.begin(), mixture.values.end());
  std::vector<HostTensor> inputs = {
      HostTensor::of({1, 8, 32, kChannels}, std::span<const float>(numbers))};
  const Value input = graph::parameter("mixture", inputs[0].shape());
  graph::Values parameters = {input};
  for (const auto& parameter : model.parameters().all()) {
    parameters.push_back(parameter.value);
    inputs.push_back(tiny_weight(parameter));
  }
  const auto masks = runtime::evaluate(model.masks(input), parameters, inputs);
  const auto wanted = reference_masks(model, mixture);
  ASSERT_EQ(masks.size(), wanted.size());
  for (size_t stem = 0; stem < masks.size(); ++stem) {
    const auto values = masks[stem].as<float>();
    ASSERT_EQ(values.size(), wanted[stem].values.size());
    double spread = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], wanted[stem].values[i], 2e-5) << stem << " " << i;
      spread = std::max(spread, std::abs(values[i] - 1.0 / 3));
    }
    EXPECT_GT(spread, 0.05) << "the stems are all alike";
  }
}

class TinySeparator : public ::testing::Test {
 protected:
  TinySeparator() {
    write_tiny_weights(folder_ / "spleeter", tiny_config());
    separator_.emplace(runtime::test_session(), folder_ / "spleeter");
  }
  ScratchFolder folder_;
  std::optional<Separator> separator_;
};

audio::StftOptions stft_options() { return {.window_samples = 64, .hop_samples = 16}; }

std::vector<float> channel_of(const AudioBuffer& sound, int64_t channel) {
  std::vector<float> samples;
  for (int64_t i = 0; i < sound.frames(); ++i) {
    samples.push_back(sound.samples[static_cast<size_t>(i * sound.channels + channel)]);
  }
  return samples;
}

// The magnitudes of the frames of one segment, silent after the end of the song.
Map magnitudes(const AudioBuffer& song, int64_t first) {
  Map mixture(8, 32, kChannels);
  for (int64_t channel = 0; channel < kChannels; ++channel) {
    const auto spectrum = audio::stft(channel_of(song, channel), stft_options());
    for (int64_t t = 0; t < std::min<int64_t>(8, spectrum.rows - first); ++t) {
      for (int64_t f = 0; f < 32; ++f) mixture.at(t, f, channel) = std::abs(spectrum(first + t, f));
    }
  }
  return mixture;
}

TEST_F(TinySeparator, SeesSegmentsOfTheSpectrumAndSilenceAfterTheEnd) {
  const AudioBuffer song = noise(300);
  constexpr int64_t kFrames = 19;  // two segments and three frames
  const auto masks = separator_->masks(song);
  ASSERT_EQ(masks.size(), 3u);
  const Spleeter model(tiny_config());
  std::vector<std::vector<Map>> wanted;
  for (int64_t first = 0; first < kFrames; first += 8) {
    wanted.push_back(reference_masks(model, magnitudes(song, first)));
  }
  for (size_t stem = 0; stem < 3; ++stem) {
    ASSERT_EQ(masks[stem].size(), 2u);
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      const auto& mask = masks[stem][static_cast<size_t>(channel)];
      ASSERT_EQ(mask.rows, kFrames);
      for (int64_t t = 0; t < kFrames; ++t) {
        Map& segment = wanted[static_cast<size_t>(t / 8)][stem];
        for (int64_t f = 0; f < 32; ++f) {
          ASSERT_NEAR(mask(t, f), segment.at(t % 8, f, channel), 1e-4)
              << stem << " frame " << t << " bin " << f;
        }
      }
    }
  }
}

TEST_F(TinySeparator, StemsAreTheSpectraTimesTheMasks) {
  const AudioBuffer song = noise(777);
  const auto stems = separator_->separate(song);
  const auto masks = separator_->masks(song);
  ASSERT_EQ(stems.size(), 3u);
  for (size_t stem = 0; stem < stems.size(); ++stem) {
    ASSERT_EQ(stems[stem].samples.size(), song.samples.size());
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      auto spectrum = audio::stft(channel_of(song, channel), stft_options());
      for (int64_t t = 0; t < spectrum.rows; ++t) {
        for (int64_t f = 0; f < 32; ++f) {
          spectrum(t, f) *= masks[stem][static_cast<size_t>(channel)](t, f);
        }
        spectrum(t, 32) = 0;
      }
      const auto wanted = audio::istft(spectrum, song.frames(), stft_options());
      const auto found = channel_of(stems[stem], channel);
      for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-5) << i;
    }
  }
}

TEST_F(TinySeparator, SeparatesSoundsOfNoLength) {
  EXPECT_EQ(separator_->separate(noise(0))[0].frames(), 0);
  EXPECT_EQ(separator_->separate(noise(1))[0].frames(), 1);
}

TEST_F(TinySeparator, NeedsStereoAtItsRate) {
  AudioBuffer mono{kSampleRateHz, 1, {0.1F, 0.2F}}, slow{22050, 2, {0.1F, 0.2F}};
  EXPECT_THAT(message_of([&] { separator_->separate(mono); }),
              HasSubstr("spleeter: needs 2 channels at 44100 Hz, not 1 at 44100 Hz"));
  EXPECT_THAT(message_of([&] { separator_->masks(slow); }), HasSubstr("not 2 at 22050 Hz"));
}

TEST(SpleeterWeights, SayHowToGetThem) {
  const auto open = [] {
    const Separator separator(runtime::test_session(), "/nonexistent/spleeter");
  };
  EXPECT_EQ(code_of(open), ExitCode::kNoInput);
  EXPECT_THAT(message_of(open), HasSubstr("make fetch-spleeter"));
}

TEST(SpleeterWeights, RefuseSizesThatDoNotFit) {
  struct Case {
    const char* field;
    Json value;
    const char* text;
  };
  for (const Case& wrong :
       {Case{"frames", 6, "6 frames and 32 bins are not multiples of 4"},
        Case{"bins", 64, "a window of 64 samples does not have 64 bins"},
        Case{"hop_samples", 48, "do not overlap"}, Case{"levels", 99, "99 levels"},
        Case{"stems", Json::array(), "no stem"}}) {
    SpleeterConfig config = tiny_config();
    Json changed = to_json(config);
    changed[wrong.field] = wrong.value;
    from_json(changed, config);
    const auto make = [&] { const Spleeter model(config); };
    EXPECT_EQ(code_of(make), ExitCode::kBadData);
    EXPECT_THAT(message_of(make), HasSubstr(wrong.text));
  }
}

}  // namespace
}  // namespace hum::models::spleeter
