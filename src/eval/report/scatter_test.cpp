#include "eval/report/scatter.h"

#include <gmock/gmock.h>

#include "base/testing/refusal.h"

namespace hum::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The quoted number of each `name=` that `then` follows.
std::vector<double> numbers(const std::string& text, const std::string& name,
                            const std::string& then = "") {
  std::vector<double> result;
  const std::string before = name + "=\"";
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
    at += before.size();
    const std::string rest = text.substr(text.find('"', at) + 1, then.size());
    if (rest == then) result.push_back(std::stod(text.substr(at)));
  }
  return result;
}

ScatterPlot crowded() {
  ScatterPlot plot{.title = "a < b", .x_label = "time, s", .y_label = "memory, GB"};
  for (int i = 0; i < 30; ++i) {
    const bool on_front = i % 2 == 0;
    plot.points.push_back(
        {10 + 0.1 * i, 5 - 0.01 * i + (on_front ? 0 : 1), "point " + std::to_string(i), on_front});
  }
  return plot;
}

TEST(ScatterPlot, LabelsOfACrowdStandApartAndInsideThePicture) {
  const std::string svg = scatter_plot(crowded());
  const auto at = numbers(svg, " y", ">point");
  ASSERT_EQ(at.size(), 15U);
  for (size_t i = 1; i < at.size(); ++i) EXPECT_GE(at[i], at[i - 1] + 15.8);
  const double height = numbers(svg, "height")[0];
  EXPECT_GT(at.front(), 60);
  EXPECT_LT(at.back(), height - 40);
  EXPECT_EQ(numbers(svg, "<circle cx").size(), 30U + 2);
}

TEST(ScatterPlot, StandsAloneWithScalesAndAKey) {
  ScatterPlot plot = crowded();
  plot.top_label = "cost, $";
  plot.top_per_x = 100;
  plot.y_limit = 8;
  plot.limit_label = "limit";
  plot.front_label = "best";
  const std::string svg = scatter_plot(plot);
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, AllOf(HasSubstr("a &lt; b"), HasSubstr("time, s"), HasSubstr("memory, GB"),
                         HasSubstr("cost, $"), HasSubstr("limit"), HasSubstr("best"),
                         HasSubstr(">1200<"), HasSubstr(">12<"), Not(HasSubstr("nan"))));
  // the second scale is aligned with the first
  const auto x_of = [&](const std::string& tick) {
    const size_t end = svg.find("text-anchor=\"middle\">" + tick + "<");
    return numbers(svg.substr(svg.rfind("<text", end)), "x").at(0);
  };
  EXPECT_EQ(x_of("1200"), x_of("12"));
}

TEST(ScatterPlot, ScalesOfManySizesAreLogarithmic) {
  const ScatterPlot plot{.points = {{1, 1, "a", true}, {10, 1, "b"}, {100, 1, "c"}}};
  const auto x = numbers(scatter_plot(plot), "<circle cx");
  ASSERT_EQ(x.size(), 5U);  // two in the key, b and c, then the front
  EXPECT_NEAR(x[3] - x[2], x[2] - x[4], 0.2);
  const ScatterPlot one{.points = {{3, 2, "alone", true}}};
  EXPECT_THAT(scatter_plot(one), AllOf(HasSubstr("alone"), Not(HasSubstr("nan"))));
  EXPECT_THAT(hum::testing::message_of([] { scatter_plot({}); }), HasSubstr("without points"));
}

}  // namespace
}  // namespace hum::eval
