// Two clips of one instrument, a low and a high one, bring the released models' sound nearer to the
// instrument than either alone: in the latents and in the timbre of the sound.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "app/play/loaded_models.h"
#include "audio/io.h"
#include "base/folders.h"
#include "base/scratch_folder.h"
#include "data/synthesis/features.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/timbre.h"
#include "pipeline/play.h"

namespace hum::quality {
namespace {

using audio::Note;

constexpr double kNote_s = 0.6;

// How far a sound is from the instrument's own.
struct Distance {
  double latents = 0, timbre = 0;  // mean |difference|; eval::timbre_distance
};

// Nine notes of 0.6 s, at these shares of the preset's range.
std::vector<Note> tune(const data::Preset& preset, const std::vector<double>& shares) {
  std::vector<Note> notes;
  for (int i = 0; i < 9; ++i) {
    const double share = shares[static_cast<size_t>(i) % shares.size()];
    notes.push_back(
        {.start_s = kNote_s * i,
         .end_s = kNote_s * i + 0.5,
         .pitch = preset.low + static_cast<int>(std::lround(share * (preset.high - preset.low))),
         .amplitude = data::kVelocityMiddle / 127});
  }
  return notes;
}

class Studio {
 public:
  Studio() : models_((source_folder() / "weights").string()) {}

  std::string write_clip(const std::string& name, const data::Preset& preset,
                         const std::vector<double>& shares, float gain = 1) {
    auto samples = data::levelled(font_.render(tune(preset, shares), preset.program, 9 * kNote_s));
    for (float& sample : samples) sample *= gain;
    // Not 16 bits: once a quiet clip is raised, their noise is heard.
    audio::write_audio(folder_ / name, {data::kSampleRate, 1, samples},
                       audio::SampleFormat::kFloat);
    return folder_ / name;
  }

  // Plays a tune over the whole range with the timbre of these clips.
  Distance distance(const data::Preset& preset, const std::vector<std::string>& clips) {
    const auto notes = tune(preset, {0.2, 0.8, 0.3, 0.7, 0.15, 0.75, 0.25});
    auto truth = data::levelled(font_.render(notes, preset.program, data::kItemSeconds));
    auto& synthesizer = models_.synthesizer();
    const auto timbre = models_.timbre_of(clips, 60, {}, models_.hear({}, {}));
    const auto instrument = synthesizer.instrument(timbre.source, {});
    const pipeline::LatentWindow window{.melody =
                                            data::melody_features(notes, pipeline::kWindowFrames)};
    const auto made = instrument.latents(std::span(&window, 1))[0];
    const auto wanted = synthesizer.humming().code_latents(synthesizer.codec().encode(truth));
    EXPECT_EQ(made.size(), wanted.size());
    Distance distance;
    for (size_t i = 0; i < wanted.size(); ++i) {
      distance.latents += std::fabs(made[i] - wanted[i]) / static_cast<double>(wanted.size());
    }
    auto played = pipeline::play(notes, instrument, 1);
    played.resize(truth.size());
    distance.timbre = eval::timbre_distance(eval::timbre_of(played, data::kSampleRate),
                                            eval::timbre_of(truth, data::kSampleRate));
    return distance;
  }

 private:
  app::LoadedModels models_;
  data::FluidRenderer font_;
  const ScratchFolder folder_;
};

TEST(TimbreClips, AreSetToOneLevel) {
  Studio studio;
  const auto& preset = data::find_preset("clarinet");
  const auto low = studio.write_clip("low.wav", preset, {0.15, 0.25, 0.2, 0.3});
  const auto high = studio.write_clip("high.wav", preset, {0.7, 0.8, 0.75, 0.65});
  const auto quiet = studio.write_clip("high-quiet.wav", preset, {0.7, 0.8, 0.75, 0.65}, 0.05F);
  const Distance same = studio.distance(preset, {low, high});
  const Distance different = studio.distance(preset, {low, quiet});
  EXPECT_NEAR(different.latents, same.latents, 0.005);
  EXPECT_NEAR(different.timbre, same.timbre, 1);
}

// Of presets that no training used. A trained preset is known from one clip of 5 s: there the
// halves of two are no better.
TEST(TimbreClips, OfTwoRegistersAreNearerThanEitherAlone) {
  Studio studio;
  Distance low, high, both;
  for (const char* name : {"viola", "bassoon", "muted-trumpet", "recorder"}) {
    const auto& preset = data::find_preset(name);
    const auto low_clip = studio.write_clip("low.wav", preset, {0.15, 0.25, 0.2, 0.3});
    const auto high_clip = studio.write_clip("high.wav", preset, {0.7, 0.8, 0.75, 0.65});
    const auto add = [&](Distance& sum, const std::vector<std::string>& clips) {
      const Distance one = studio.distance(preset, clips);
      std::cout << fmt::format("{} of {}: latents {:.4f}, timbre {:.1f}\n", name, clips.size(),
                               one.latents, one.timbre);
      sum.latents += one.latents;
      sum.timbre += one.timbre;
    };
    add(low, {low_clip});
    add(high, {high_clip});
    add(both, {low_clip, high_clip});
  }
  EXPECT_LT(both.latents, low.latents);
  EXPECT_LT(both.latents, high.latents);
  EXPECT_LT(both.timbre, low.timbre);
  EXPECT_LT(both.timbre, high.timbre);
}

}  // namespace
}  // namespace hum::quality
