// Phase-free latents compared with encodings of moved sound, one by one.
#include "data/features/phase_free.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "base/scratch_folder.h"
#include "data/shards/array_files.h"
#include "data/shards/make_items.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr int32_t kNegative = 200;

// A "codec" that codes the first sample of each frame in hundredths, with kNegative more if it is
// negative; the latent is the code.
CodecTables tables() {
  CodecTables codec{.entries = 400, .latent = 1};
  for (int64_t entry = 0; entry < codec.entries; ++entry) {
    codec.codebooks.push_back(static_cast<float>(entry));
  }
  codec.encoder.books = 1;
  codec.encoder.fingerprint = std::string(64, 'f');
  codec.encoder.encode = [](std::span<const float> windows) {
    std::vector<int32_t> codes;
    for (size_t at = 0; at < windows.size(); at += kFrameSamples) {
      const auto size = static_cast<int32_t>(std::lround(100 * std::fabs(windows[at])));
      codes.push_back(size + (windows[at] < 0 ? kNegative : 0));
    }
    return codes;
  };
  return codec;
}

TokenEncoder silent() {
  TokenEncoder encoder = tables().encoder;
  encoder.encode = [](std::span<const float>) -> std::vector<int32_t> {
    throw std::logic_error("encoded again");
  };
  return encoder;
}

class PhaseFree : public ::testing::Test {
 protected:
  ItemFolder items(int64_t count) const {
    make_items(folder_.path(), {.items = {.presets = {"flute"}, .sound_fonts = {"fluidr3"}},
                                .count = count,
                                .items_per_shard = 2,
                                .threads = 2});
    return ItemFolder(folder_.path());
  }

  ScratchFolder folder_;
};

TEST_F(PhaseFree, AreTheMeanOverShiftsAndPolarities) {
  const auto folder = items(3);
  const TokenTable tokens(folder, folder_.path(), tables());
  const auto latents = phase_free_latents(folder, folder_.path(), tokens, tables().encoder);
  for (int64_t item = 0; item < 3; ++item) {
    std::vector<float> target(kItemSamples);
    to_float(folder[item].target, target);
    ASSERT_EQ(std::ssize(latents[item]), kItemFrames);
    for (int64_t frame = 0; frame < kItemFrames; ++frame) {
      double expected = 0;
      for (const int64_t shift : {-55, -24, 17, 55}) {
        const int64_t at = frame * kFrameSamples + shift;
        const double x = at < 0 ? 0 : target[static_cast<size_t>(at)];
        expected += (std::lround(100 * std::fabs(x)) + (x != 0 ? kNegative / 2 : 0)) / 4.0;
      }
      ASSERT_NEAR(latents[item][static_cast<size_t>(frame)], expected, 1e-4) << frame;
    }
  }
}

TEST_F(PhaseFree, AreStoredAndMadeAgainOnlyIfTheFolderGrew) {
  std::vector<float> first;
  {
    const auto folder = items(2);
    const TokenTable tokens(folder, folder_.path(), tables());
    const auto made = phase_free_latents(folder, folder_.path(), tokens, tables().encoder);
    EXPECT_TRUE(std::filesystem::exists(
        folder_.path() / fmt::format("phase-free-ffffffffffffffff-{}", folder.fingerprint()) /
        "000000.npy"));
    const auto read = phase_free_latents(folder, folder_.path(), tokens, silent());
    EXPECT_TRUE(std::ranges::equal(read[1], made[1]));
    first.assign(made[0].begin(), made[0].end());
  }
  const auto folder = items(4);
  const TokenTable tokens(folder, folder_.path(), tables());
  EXPECT_THROW(phase_free_latents(folder, folder_.path(), tokens, silent()), std::logic_error);
  const auto latents = phase_free_latents(folder, folder_.path(), tokens, tables().encoder);
  EXPECT_TRUE(std::ranges::equal(latents[0], std::span<const float>(first)));
  EXPECT_FALSE(std::ranges::equal(latents[3], latents[0]));
}

}  // namespace
}  // namespace hum::data
