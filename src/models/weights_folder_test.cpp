// Variants of weights take missing parts from other folders.
#include "models/weights_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

namespace hum::models {
namespace {

namespace fs = std::filesystem;

class WeightsFolder : public testing::Test {
 protected:
  WeightsFolder() : all_(fs::temp_directory_path() / fmt::format("hum-weights-{}", ::getpid())) {
    fs::create_directories(all_ / "codec");
    fs::create_directories(all_ / "coarse");
    fs::create_directories(variant_ / "coarse");
  }
  ~WeightsFolder() override { fs::remove_all(all_); }

  fs::path all_, variant_ = all_ / "baselines/other";
};

TEST_F(WeightsFolder, APartIsTheVariantsOwnOrTheOthers) {
  EXPECT_EQ(weights_part(variant_, "codec"), variant_ / "codec");  // and missed there
  write_file(variant_ / "builds_on", "../..\n");
  EXPECT_EQ(weights_part(variant_, "coarse"), variant_ / "coarse");
  EXPECT_EQ(fs::weakly_canonical(weights_part(variant_, "codec")), fs::canonical(all_ / "codec"));
  EXPECT_EQ(weights_part(variant_, "voice"), variant_ / "voice");
  EXPECT_EQ(weights_part(all_, "codec"), all_ / "codec");
}

TEST_F(WeightsFolder, ACircleIsRefused) {
  write_file(variant_ / "builds_on", ".");
  EXPECT_THROW(weights_part(variant_, "codec"), Error);
}

}  // namespace
}  // namespace hum::models
