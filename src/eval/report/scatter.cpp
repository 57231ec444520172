#include "eval/report/scatter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "eval/report/plots.h"

namespace hum::eval {
namespace {

constexpr double kLeft = 66, kWidth = 520, kHeight = 380, kBelow = 52;
// Height of the title, the key and the second scale, if there is one, above the plot.
constexpr double kHead = 66, kSecondScale = 42;
constexpr double kLabelGap = 16, kLeader = 46, kLetter = 6.8;

// Maps figures to positions on the page.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool logarithmic = false;

  double place(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

// 1, 2 or 5 times a power of ten that divides a span into about six steps.
double step_of(double span) {
  const double rough = span / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= rough) return step * power;
  }
  return 10 * power;
}

std::vector<double> ticks_of(const Scale& scale) {
  std::vector<double> ticks;
  if (!scale.logarithmic) {
    const double step = step_of(scale.high - scale.low);
    for (double k = std::ceil(scale.low / step); k * step <= scale.high; ++k)
      ticks.push_back(k * step);
    return ticks;
  }
  for (double power = std::pow(10, std::floor(std::log10(scale.low))); power <= scale.high;
       power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * power;
      if (value >= scale.low && value <= scale.high) ticks.push_back(value);
    }
  }
  return ticks;
}

Scale x_scale(const ScatterPlot& plot) {
  const auto [least, most] = std::ranges::minmax_element(plot.points, {}, &ScatterPoint::x);
  Scale scale{.from = kLeft, .to = kLeft + kWidth};
  scale.logarithmic = most->x > 10 * least->x;
  const double margin = std::max(0.04 * (most->x - least->x), 0.02 * least->x);
  scale.low = scale.logarithmic ? least->x / 1.15 : least->x - margin;
  scale.high = scale.logarithmic ? most->x * 1.15 : most->x + margin;
  return scale;
}

// Leaves room for a label beside each point of the front.
Scale y_scale(const ScatterPlot& plot, size_t labels) {
  double most = plot.y_limit;
  for (const auto& point : plot.points) most = std::max(most, point.y);
  const double height = std::max(kHeight, kLabelGap * static_cast<double>(labels));
  const double top = kHead + (plot.top_per_x > 0 ? kSecondScale : 0);
  return {.high = 1.04 * most, .from = top + height, .to = top};
}

std::string text(double x, double y, const std::string& words, const char* attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                     escaped(words));
}

constexpr const char* kMiddle = " text-anchor=\"middle\"";

std::string axes(const ScatterPlot& plot, const Scale& x, const Scale& y) {
  std::string svg;
  const double bottom = y.from, head = y.to, right = x.to;
  for (const double tick : ticks_of(y)) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, y.place(tick),
                       right);
    svg += text(kLeft - 8, y.place(tick) + 4, fmt::format("{:.6g}", tick), " text-anchor=\"end\"");
  }
  for (const double tick : ticks_of(x)) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.place(tick), head,
                       bottom);
    svg += text(x.place(tick), bottom + 18, fmt::format("{:.6g}", tick), kMiddle);
  }
  svg += text(kLeft + kWidth / 2, bottom + 40, plot.x_label, kMiddle);
  svg += fmt::format("<g transform=\"translate(16 {:.1f}) rotate(-90)\">{}</g>\n",
                     (head + bottom) / 2, text(0, 0, plot.y_label, kMiddle));
  if (plot.top_per_x > 0) {
    Scale top = x;
    top.low *= plot.top_per_x;
    top.high *= plot.top_per_x;
    for (const double tick : ticks_of(top)) {
      svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v-5\"/>\n", top.place(tick), head);
      svg += text(top.place(tick), head - 9, fmt::format("{:.6g}", tick), kMiddle);
    }
    svg += text(kLeft + kWidth / 2, head - 28, plot.top_label, kMiddle);
  }
  return svg + fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", kLeft,
                           head, bottom, right);
}

std::string limit(const ScatterPlot& plot, const Scale& x, const Scale& y) {
  if (plot.y_limit <= 0) return "";
  const double at = y.place(plot.y_limit);
  return fmt::format("<path class=\"limit\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, at, x.to) +
         text(x.to - 4, at + 14, plot.limit_label, " text-anchor=\"end\"");
}

std::string dot(double x, double y, double radius, const char* kind, const std::string& tip) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n", x, y,
      radius, plot_colour(kind), escaped(tip));
}

std::string dots(const ScatterPlot& plot, const Scale& x, const Scale& y, bool on_front) {
  std::string svg;
  for (const auto& point : plot.points) {
    if (point.on_front != on_front) continue;
    svg += dot(x.place(point.x), y.place(point.y), on_front ? 4.5 : 3.5,
               on_front ? "system" : "floor", point.label);
  }
  return svg;
}

// The line of the front: right, then down.
std::string front_line(std::span<const ScatterPoint> front, const Scale& x, const Scale& y) {
  std::string path;
  for (const auto& point : front)
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x.place(point.x), y.place(point.y))
                         : fmt::format("H{:.1f}V{:.1f}", x.place(point.x), y.place(point.y));
  return fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-opacity=\"0.5\" d=\"{}\"/>\n",
                     plot_colour("system"), path);
}

// Moves positions at least a gap apart. Keeps their order, stays as close as possible to the wished
// ones, and keeps the mean of crowded ones (pool adjacent violators).
std::vector<double> spread(const std::vector<double>& wished, double low, double high) {
  struct Crowd {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Crowd> crowds;
  for (size_t i = 0; i < wished.size(); ++i) {
    crowds.push_back({wished[i] - kLabelGap * static_cast<double>(i), 1});
    while (crowds.size() > 1 && crowds.back().mean() < crowds[crowds.size() - 2].mean()) {
      const Crowd last = crowds.back();
      crowds.pop_back();
      crowds.back().sum += last.sum;
      crowds.back().count += last.count;
    }
  }
  const double room = high - low - kLabelGap * static_cast<double>(wished.size() - 1);
  std::vector<double> result;
  for (const Crowd& crowd : crowds) {
    for (size_t i = 0; i < crowd.count; ++i) {
      result.push_back(std::clamp(crowd.mean(), low, low + std::max(0.0, room)) +
                       kLabelGap * static_cast<double>(result.size()));
    }
  }
  return result;
}

std::string labels(std::span<const ScatterPoint> front, const Scale& x, const Scale& y) {
  std::vector<double> wished;
  for (const auto& point : front) wished.push_back(y.place(point.y));
  const auto at = spread(wished, y.to + 6, y.from - 6);
  std::string svg;
  for (size_t i = 0; i < front.size(); ++i) {
    svg += fmt::format("<path class=\"leader\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}h{}\"/>\n",
                       x.place(front[i].x) + 6, wished[i], x.to + kLeader - 12, at[i], 8);
    svg += text(x.to + kLeader, at[i] + 4, front[i].label);
  }
  return svg;
}

std::string key(const ScatterPlot& plot) {
  const double second = kLeft + 30 + kLetter * static_cast<double>(plot.front_label.size());
  return dot(kLeft + 5, 40, 4.5, "system", "") + text(kLeft + 15, 44, plot.front_label) +
         dot(second, 40, 3.5, "floor", "") + text(second + 10, 44, plot.other_label);
}

}  // namespace

std::string scatter_plot(const ScatterPlot& plot) {
  if (plot.points.empty()) fail(ExitCode::kBadData, "a plot without points");
  std::vector<ScatterPoint> front;
  size_t longest = 0;
  for (const auto& point : plot.points) {
    if (!point.on_front) continue;
    front.push_back(point);
    longest = std::max(longest, point.label.size());
  }
  std::ranges::sort(front, {}, &ScatterPoint::x);
  const Scale x = x_scale(plot), y = y_scale(plot, front.size());
  const double width = x.to + kLeader + kLetter * static_cast<double>(longest) + 12;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>{3} .grid {{ stroke: #e6e1d8; }} .axis {{ stroke: #555; fill: none; }} "
      ".limit {{ stroke: #b5483a; stroke-dasharray: 6 4; }} "
      ".leader {{ stroke: #b9b3a9; stroke-width: 0.7; fill: none; }}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fdfcfa\"/>\n",
      width, y.from + kBelow, escaped(plot.title), kPlotStyle);
  svg += text(kLeft, 22, plot.title, " class=\"title\"") + key(plot) + axes(plot, x, y);
  svg += limit(plot, x, y) + front_line(front, x, y) + labels(front, x, y);
  return svg + dots(plot, x, y, false) + dots(plot, x, y, true) + "</svg>\n";
}

}  // namespace hum::eval
