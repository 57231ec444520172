#include "plan/extraction.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::plan {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::HasSubstr;

Figure figure(double value) { return {value, "here", "2026"}; }

// 10 s of sound a core-second; a node extracts 1,000 s of sound a second.
const ExtractionWork kWork = {.sound_hours = 240'000,
                              .input_bytes_per_sound_s = 200'000,
                              .output_bytes_per_sound_s = 20'000,
                              .sound_s_per_core_s = 10};
ExtractionNode node() {
  return {.name = "n",
          .cores = figure(100),
          .memory_gb = figure(200),
          .network_gb_per_s = figure(5),
          .price_per_node_hour = figure(4),
          .reserved_per_node_hour = {},
          .spot_per_node_hour = figure(1)};
}

TEST(PlanExtraction, DividesTheWorkByCoresAndRate) {
  const auto plan = plan_extraction(kWork, node(), 2);
  EXPECT_DOUBLE_EQ(plan.core_hours, 24'000);
  EXPECT_DOUBLE_EQ(plan.days, 5);  // 240,000 h / (2 nodes x 1,000) = 120 h
  EXPECT_FALSE(plan.is_bound_by_network);
  EXPECT_DOUBLE_EQ(plan.on_demand, 960);  // 2 nodes x 120 h x $4
  EXPECT_DOUBLE_EQ(plan.spot, 240);
  EXPECT_EQ(plan.reserved, 0);
  EXPECT_DOUBLE_EQ(plan.input_bytes, 240'000 * 3600.0 * 200'000);
  EXPECT_DOUBLE_EQ(plan.output_bytes, plan.input_bytes / 10);
  EXPECT_DOUBLE_EQ(plan.node_in_bytes_per_s, 2e8);
}

TEST(PlanExtraction, NoticesANetworkThatIsTooSlow) {
  auto slow = node();
  slow.network_gb_per_s = figure(0.1);  // 500 s of sound a second
  const auto plan = plan_extraction(kWork, slow, 2);
  EXPECT_TRUE(plan.is_bound_by_network);
  EXPECT_DOUBLE_EQ(plan.days, 10);
  EXPECT_DOUBLE_EQ(plan.node_in_bytes_per_s, 1e8);
}

TEST(PlanExtraction, FindsTheFewestNodesThatAreFastEnough) {
  EXPECT_EQ(plan_extraction_in(kWork, node(), 10).nodes, 1);
  EXPECT_EQ(plan_extraction_in(kWork, node(), 5).nodes, 2);
  const auto plan = plan_extraction_in(kWork, node(), 4.9);
  EXPECT_EQ(plan.nodes, 3);
  EXPECT_LE(plan.days, 4.9);
  EXPECT_EQ(plan_extraction_in(kWork, node(), 1000).nodes, 1);
}

TEST(PlanExtraction, ReadsItsOwnFiguresAndRefusesThoseWithoutASource) {
  const auto figures = read_extraction_figures(extraction_figures_path());
  EXPECT_GT(figures.rate.sound_s_per_core_s.value, 0);
  EXPECT_FALSE(figures.nodes.empty());
  EXPECT_EQ(code_of([&] { figures.at("abacus"); }), ExitCode::kUsage);
  const ScratchFolder folder;
  const std::string text = read_file(extraction_figures_path());
  const auto refused = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, changed.npos) << from;
    changed.replace(at, from.size(), to);
    write_file(folder / "changed.yaml", changed);
    return message_of([&] { read_extraction_figures(folder / "changed.yaml"); });
  };
  EXPECT_THAT(refused("rate:", "pace:"), HasSubstr("the part 'rate' is missing"));
  EXPECT_THAT(refused("cores:", "kernels:"), HasSubstr("unknown field 'kernels'"));
  EXPECT_THAT(refused("sound_s_per_core_s: {value: ", "sound_s_per_core_s: {value: -"),
              HasSubstr("sound_s_per_core_s needs a value above zero"));
}

}  // namespace
}  // namespace hum::plan
