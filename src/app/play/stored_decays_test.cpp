// Decays of presets beside weights.
#include "app/play/stored_decays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "app/play/references.h"
#include "base/files.h"
#include "base/safetensors.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/synthesis/fluid.h"

namespace hum::app {
namespace {

using models::humming::LateDecay;
using ::testing::HasSubstr;

constexpr int64_t kFourSeconds = 200;  // frames

LateDecay falling(float fall_db) {
  std::vector<float> row = {60, 150, fall_db};
  for (int64_t step = 0; step < LateDecay::kSteps; ++step) {
    row.push_back(-fall_db * LateDecay::kStepFrames * static_cast<float>(step));
  }
  return *LateDecay::of_table(row);
}

class StoredDecays : public ::testing::Test {
 protected:
  StoredDecays() { create_folder(references_); }

  std::shared_ptr<const LateDecay> decay_of(std::string_view preset) const {
    return stored_decay(weights_.path(), data::find_preset(preset));
  }

  const ScratchFolder weights_;
  const std::filesystem::path references_ = weights_.path() / "references";
};

TEST_F(StoredDecays, AreReadAsTheyWereWritten) {
  EXPECT_EQ(decay_of("harp"), nullptr);  // older weights
  write_decays(references_, std::vector<PresetDecay>{
                                {"harp", falling(0.1F)}, {"flute", {}}, {"banjo", falling(0.2F)}});
  EXPECT_EQ(decay_of("harp")->table(), falling(0.1F).table());
  EXPECT_EQ(decay_of("banjo")->table(), falling(0.2F).table());
  EXPECT_EQ(decay_of("flute"), nullptr);
}

TEST_F(StoredDecays, ThatAreDamagedAreRefused) {
  const auto file = references_ / "decays.safetensors";
  const auto refuse = [&](const std::string& why) {
    const auto read = [&] { decay_of("harp"); };
    EXPECT_THAT(testing::message_of(read), HasSubstr(why));
    EXPECT_EQ(testing::code_of(read), ExitCode::kBadData);
  };
  auto table = falling(0.1F).table();
  table[0] = NAN;
  const auto write = [&](std::vector<int64_t> dims, const std::string& version) {
    write_safetensors(file,
                      std::vector{SafeTensor{.name = "harp",
                                             .dtype = "F32",
                                             .dims = dims,
                                             .bytes = std::as_bytes(std::span(table))}},
                      {{"hum_format", "hum-decays"}, {"version", version}});
  };
  write({1, LateDecay::kTableColumns}, "1");
  refuse("a value of 'harp' is out of range");
  write({LateDecay::kTableColumns, 1}, "1");
  refuse("'harp' must be F32 [notes, 28]");
  write({1, LateDecay::kTableColumns}, "2");
  refuse("unknown version 2");
  write_file(file, "no");
  refuse("decays.safetensors");
}

TEST(PresetDecay, ComesFromTheSoundFont) {
  data::FluidRenderer renderer;
  const auto late_fall = [&](std::string_view preset, double pitch) {
    return -preset_decay(data::find_preset(preset), renderer).gain_db(pitch, kFourSeconds);
  };
  EXPECT_GT(late_fall("harp", 60), 15);
  EXPECT_GT(late_fall("acoustic-grand-piano", 60), 10);
  EXPECT_LT(late_fall("violin", 70), 3);
  EXPECT_LT(late_fall("church-organ", 60), 3);
}

}  // namespace
}  // namespace hum::app
