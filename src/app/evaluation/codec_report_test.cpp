// hum evaluate codec on tiny weights, whole and split.
#include "app/evaluation/codec_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/shards/make_items.h"
#include "models/testing.h"

namespace hum::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kShifts[] = {"shift_1_ms", "shift_2_5_ms", "shift_5_ms"};

class CodecReport : public ::testing::Test {
 protected:
  CodecReport() {
    ::setenv("HUM_CACHE", (folder_ / "cache").c_str(), /*overwrite=*/1);
    data::MakeOptions options{.count = 2, .items_per_shard = 2, .threads = 1};
    options.items.presets = {"violin", "acoustic-grand-piano"};
    data::make_items(folder_ / "data", options);
  }
  ~CodecReport() override { ::unsetenv("HUM_CACHE"); }

  Json report(const Json& changes) const {
    models::write_tiny_weights(folder_.path(), "codec", changes);
    return codec_report({.weights = folder_.path().string(), .data = folder_ / "data", .items = 2});
  }

  ScratchFolder folder_;
};

TEST_F(CodecReport, ShowsThatOnlyThePhasePartKnowsPolarity) {
  const Json report = this->report({{"phase_latent", 2}, {"phase_books", 1}});
  const Json& rows = report.at("movement");
  ASSERT_EQ(rows.size(), 4U);
  for (const Json& row : rows) {
    const double polarity = row.at("polarity");
    if (row.at("part") == "sound") {
      EXPECT_LT(polarity, 1e-3) << row;
    } else {
      EXPECT_GT(polarity, 0.1) << row;
    }
    for (const char* shift : kShifts) EXPECT_GT(row.at(shift), 0) << row;
  }
  EXPECT_LT(rows[0].at("shift_1_ms"), rows[0].at("shift_5_ms"));
  EXPECT_GT(report.at("mel_distance").at("all"), 0);
  EXPECT_NE(report.at("mel_distance").at("all"), report.at("mel_distance").at("sound"));
  EXPECT_EQ(report.at("codebooks").size(), 4U);
  const Json& octaves = report.at("octaves");
  ASSERT_EQ(octaves.size(), 9U);
  EXPECT_EQ(octaves[1].at("hz"), 62.5);
  EXPECT_GT(std::abs(octaves[8].at("difference_db").get<double>()), 3);  // the codec is untrained
  EXPECT_THAT(codec_text(report), HasSubstr("of the sound's books alone"));
  EXPECT_THAT(codec_text(report), HasSubstr("\nphase, tokens"));
  EXPECT_THAT(codec_text(report), HasSubstr("\n      8000"));
}

TEST_F(CodecReport, OfACodecThatIsNotSplitHasOnePart) {
  const Json report = this->report(Json::object());
  const Json& rows = report.at("movement");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("part"), "all");
  EXPECT_EQ(rows[0].at("of"), "latents");
  EXPECT_EQ(rows[1].at("of"), "tokens");
  EXPECT_GT(rows[0].at("polarity"), 0.01);
  EXPECT_FALSE(report.at("mel_distance").contains("sound"));
  const Json& book = report.at("codebooks").at(0);
  EXPECT_GT(book.at("entropy_bits"), 0);
  EXPECT_LE(book.at("entropy_bits"), 5);  // 32 entries
  EXPECT_LE(book.at("used"), 1);
  EXPECT_THAT(codec_text(report), HasSubstr("\nall, tokens"));
}

TEST_F(CodecReport, NeedsThatManyItems) {
  for (const int64_t items : {0, 3}) {
    const auto ask = [&] {
      codec_report({.weights = folder_.path().string(), .data = folder_ / "data", .items = items});
    };
    EXPECT_EQ(hum::testing::code_of(ask), ExitCode::kUsage);
    EXPECT_THAT(hum::testing::message_of(ask), HasSubstr("--items"));
  }
}

}  // namespace
}  // namespace hum::app
