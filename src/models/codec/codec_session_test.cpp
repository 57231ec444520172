// Tokens and latents of a split codec on tiny weights: the sound part alone, and both parts.
#include "models/codec/codec_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/rng.h"
#include "base/scratch_folder.h"
#include "models/codec/code_vectors.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::models::codec {
namespace {

constexpr int64_t kBooks = 4, kSoundBooks = 3, kLatent = 8, kSoundLatent = 6;  // tiny_config's

// The largest difference. Runs of one program differ by rounding.
double largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(double{a[i]} - b[i]));
  return largest;
}
constexpr double kRounding = 1e-5;

class SplitSession : public ::testing::Test {
 protected:
  SplitSession() {
    write_tiny_weights(scratch_.path(), "codec", {{"phase_latent", 2}, {"phase_books", 1}});
    Rng rng(7, "split-session-test");
    for (float& sample : samples_) sample = static_cast<float>(0.1 * rng.normal());
  }

  CodecSession open() const { return {runtime::test_session(), scratch_.path() / "codec"}; }

  ScratchFolder scratch_;
  std::vector<float> samples_ = std::vector<float>(kWindowSamples);
};

TEST_F(SplitSession, DecodesTheSoundsBooksAlone) {
  const CodecSession codec = open();
  const auto codes = codec.encode(samples_);
  ASSERT_EQ(std::ssize(codes), kWindowFrames * kBooks);
  EXPECT_EQ(codec.encode_sound(samples_), first_books(codes, kBooks, kSoundBooks));

  auto other_phase = codes;
  for (size_t i = kBooks - 1; i < codes.size(); i += kBooks) {
    other_phase[i] = (other_phase[i] + 1) % 32;
  }
  const auto sound = codec.decode(codes, kSoundBooks);
  ASSERT_EQ(sound.size(), samples_.size());
  EXPECT_LT(largest_difference(codec.decode(other_phase, kSoundBooks), sound), kRounding);
  const auto both = codec.decode(codes, kBooks);
  EXPECT_GT(largest_difference(both, sound), 100 * kRounding);
  EXPECT_GT(largest_difference(codec.decode(other_phase, kBooks), both), 100 * kRounding);
}

TEST_F(SplitSession, CodesPolarityInThePhasesBooksAlone) {
  const CodecSession codec = open();
  auto inverted = samples_;
  for (float& sample : inverted) sample = -sample;
  EXPECT_EQ(codec.encode_sound(inverted), codec.encode_sound(samples_));
  EXPECT_NE(codec.encode(inverted), codec.encode(samples_));
}

TEST_F(SplitSession, HasTheCodebooksOfTheSoundPart) {
  const CodecSession codec = open();
  const auto& all = codec.codebooks();
  const auto& sound = codec.sound_codebooks();
  ASSERT_EQ(all.shape().dims, (graph::Dims{kBooks, 32, kLatent}));
  ASSERT_EQ(sound.shape().dims, (graph::Dims{kSoundBooks, 32, kSoundLatent}));
  const auto codes = codec.encode(samples_);
  const auto whole = sum_code_vectors(all, codes, kSoundBooks);
  const auto part = sum_code_vectors(sound, first_books(codes, kBooks, kSoundBooks), kSoundBooks);
  for (int64_t i = 0; i < std::ssize(whole); ++i) {
    const int64_t row = i / kLatent, dim = i % kLatent;
    const float wanted =
        dim < kSoundLatent ? part[static_cast<size_t>(row * kSoundLatent + dim)] : 0.0F;
    ASSERT_EQ(whole[static_cast<size_t>(i)], wanted);
  }
  EXPECT_LT(largest_difference(codec.decode_latents(whole), codec.decode_latents(part)), kRounding);
}

TEST_F(SplitSession, GivesTheLatentsThatItsTokensCode) {
  const CodecSession codec = open();
  auto windows = samples_;
  for (int i = 0; i < 9; ++i) windows.insert(windows.end(), samples_.begin(), samples_.end());
  const auto latents = codec.window_latents(windows);
  ASSERT_EQ(std::ssize(latents), 10 * kWindowFrames * kLatent);
  const size_t size = kWindowFrames * kLatent;
  EXPECT_LT(largest_difference(std::span(latents).first(size), std::span(latents).last(size)),
            kRounding);
  // The first book codes the nearest of its vectors in the sound's dims.
  const auto codes = codec.encode_windows(samples_);
  const auto vectors = codec.sound_codebooks().as<float>();
  for (size_t frame = 0; frame < kWindowFrames; ++frame) {
    const auto squared = [&](size_t entry) {
      double sum = 0;
      for (size_t d = 0; d < kSoundLatent; ++d) {
        const double x = latents[frame * kLatent + d] - vectors[entry * kSoundLatent + d];
        sum += x * x;
      }
      return sum;
    };
    double nearest = squared(0);
    for (size_t entry = 1; entry < 32; ++entry) nearest = std::min(nearest, squared(entry));
    ASSERT_NEAR(squared(static_cast<size_t>(codes[frame * kBooks])), nearest, 1e-4);
  }
}

}  // namespace
}  // namespace hum::models::codec
