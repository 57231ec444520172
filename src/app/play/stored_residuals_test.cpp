// Residuals beside weights: used only with the model and the reference that made them.
#include "app/play/stored_residuals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "app/play/references.h"
#include "base/files.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::Residual;
using ::testing::AllOf;
using testing::code_of;
using ::testing::HasSubstr;

constexpr int64_t kLatent = 2;
const std::vector<float> kViolin = {0, 60, 5, 0.25F, -0.5F, 3, 62, 8, 0.125F, 1};
const std::vector<float> kFlute = {1, 72, 15, 0.75F, 0.5F};

PresetResidual stored(const std::string& preset, const std::vector<float>& table) {
  return {preset, std::make_shared<const Residual>(*Residual::of_table(table, kLatent))};
}

// A folder of weights with the residuals of two presets. What identifies the model and the
// references are the bytes of their files, whatever these are.
class StoredResiduals : public ::testing::Test {
 protected:
  StoredResiduals() {
    write("upsampler/SHA256SUMS", "the upsampler");
    for (const char* preset : {"violin", "flute", "oboe"}) {
      write(fmt::format("references/{}.safetensors", preset), preset);
    }
    write_residuals(weights_ / "references", *drafter_sha256(weights_),
                    std::vector{stored("violin", kViolin), stored("flute", kFlute)});
  }

  void write(const std::string& name, const std::string& text) const {
    create_folder((weights_ / name).parent_path());
    write_file(weights_ / name, text);
  }
  // The table of a preset's residual; empty if there is none.
  std::vector<float> table_of(const std::string& preset, int64_t latent = kLatent) const {
    const auto residual = stored_residual(weights_, data::find_preset(preset), latent);
    return residual ? residual->table() : std::vector<float>();
  }
  // What is logged while the residual of the violin is asked for twice, in vain.
  std::string log_of_none(int64_t latent = kLatent) const {
    std::ostringstream log;
    const auto before = spdlog::default_logger();
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log);
    sink->set_pattern("%l: %v");
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(table_of("violin", latent).empty());
    spdlog::set_default_logger(before);
    return log.str();
  }
  void expect_one_warning(const std::string& why, int64_t latent = kLatent) const {
    const std::string log = log_of_none(latent);
    EXPECT_THAT(log, AllOf(HasSubstr("warning: "), HasSubstr(why),
                           HasSubstr(residuals_file(weights_).string()),
                           HasSubstr("`hum data references`")));
    EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  }

  const ScratchFolder scratch_;
  const fs::path weights_ = scratch_.path() / "weights";
};

TEST_F(StoredResiduals, AreReadAsTheyWereWritten) {
  EXPECT_EQ(table_of("violin"), kViolin);
  EXPECT_EQ(table_of("flute"), kFlute);
}

TEST_F(StoredResiduals, AreNoReferences) { EXPECT_EQ(known_presets(weights_).size(), 3U); }

TEST_F(StoredResiduals, OfAPresetThatTheyLeaveOutAreNone) {
  EXPECT_TRUE(table_of("oboe").empty());
  fs::remove(reference_file(weights_, data::find_preset("violin")));
  EXPECT_EQ(log_of_none(), "");
}

TEST_F(StoredResiduals, MayBeMissing) {
  fs::remove(residuals_file(weights_));
  EXPECT_EQ(log_of_none(), "");
}

TEST_F(StoredResiduals, AreNotUsedWithAModelThatNothingIdentifies) {
  fs::remove(weights_ / "upsampler/SHA256SUMS");
  EXPECT_EQ(drafter_sha256(weights_), std::nullopt);
  EXPECT_EQ(log_of_none(), "");
}

TEST_F(StoredResiduals, OfAnotherModelAreNotUsed) {
  write("upsampler/SHA256SUMS", "another upsampler");
  expect_one_warning("made with other weights");
}

TEST_F(StoredResiduals, OfTheUpsamplerAreNotThoseOfAPredictor) {
  write("predictor/SHA256SUMS", "the predictor");
  expect_one_warning("made with other weights");
}

TEST_F(StoredResiduals, OfAnotherReferenceAreNotUsed) {
  write("references/violin.safetensors", "another violin");
  expect_one_warning("made with another violin.safetensors");
  EXPECT_EQ(table_of("flute"), kFlute);
}

TEST_F(StoredResiduals, OfOtherLatentsAreNotUsed) {
  expect_one_warning("'violin' must be F32 [stretches, 6]", kLatent + 1);
}

TEST_F(StoredResiduals, ThatAreCutOffAreNotUsed) {
  const std::string whole = read_file(residuals_file(weights_));
  write_file(residuals_file(weights_), whole.substr(0, whole.size() - 1));
  expect_one_warning("not a complete safetensors file");
}

TEST_F(StoredResiduals, WithValuesOutOfRangeAreNotUsed) {
  std::string bytes = read_file(residuals_file(weights_));
  // The violin's tensor is the first one; 0xffffffff is no number.
  const size_t data = bytes.size() - sizeof(float) * (kViolin.size() + kFlute.size());
  bytes.replace(data, 4, "\xff\xff\xff\xff");
  write_file(residuals_file(weights_), bytes);
  expect_one_warning("a value of 'violin' is out of range");
}

TEST_F(StoredResiduals, AreNotReadFromAFileOfAnotherKind) {
  const std::string bytes = read_file(residuals_file(weights_));
  const auto with = [&](const std::string& word, const std::string& other) {
    std::string changed = bytes;
    write_file(residuals_file(weights_), changed.replace(bytes.find(word), word.size(), other));
    return code_of([&] { read_residual(residuals_file(weights_), "violin", kLatent); });
  };
  EXPECT_EQ(with("hum-residuals", "hum-residualz"), ExitCode::kBadData);
  EXPECT_EQ(with(R"("version":"1")", R"("version":"2")"), ExitCode::kBadData);
  EXPECT_EQ(with("violin.reference_sha256", "violin.reference_sha257"), ExitCode::kBadData);
  EXPECT_EQ(with("hum-residuals", "hum-residuals"), ExitCode::kOk);
}

}  // namespace
}  // namespace hum::app
