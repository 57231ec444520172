#include "eval/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hum::eval {
namespace {

constexpr double kLetterWidth = 7.5, kPlotWidth = 330, kValueWidth = 72, kRowHeight = 22;
constexpr double kTop = 26, kBottom = 6;

// The axis spans zero, all values and all intervals; labels are to its left.
struct Axis {
  double left = 0;
  double low = 0, high = 0;

  void include(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  double place(double x) const {
    const double span = high > low ? high - low : 1;
    return left + kPlotWidth * (x - low) / span;
  }
};

std::string whisker(const PlotBar& bar, const Axis& axis, double middle) {
  if (!std::isfinite(bar.low) || !std::isfinite(bar.high)) return {};
  return fmt::format(
      R"(<path d="M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}V{4:.1f}M{1:.1f} {3:.1f}V{4:.1f}" stroke="#222" fill="none"/>)",
      axis.place(bar.low), axis.place(bar.high), middle, middle - 4, middle + 4);
}

std::string bar_svg(const PlotBar& bar, const Axis& axis, double top) {
  const double middle = top + kRowHeight / 2;
  std::string svg = fmt::format(R"(<text x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)",
                                axis.left - 8, middle + 4, escaped(bar.label));
  if (!std::isfinite(bar.value)) return svg;
  const double from = axis.place(std::min(0.0, bar.value));
  const double to = axis.place(std::max(0.0, bar.value));
  svg +=
      fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>)", from,
                  top + 4, std::max(0.5, to - from), kRowHeight - 8, plot_colour(bar.kind));
  svg += whisker(bar, axis, middle);
  svg += fmt::format(R"(<text x="{:.0f}" y="{:.1f}">{:.3g}</text>)", axis.left + kPlotWidth + 8,
                     middle + 4, bar.value);
  return svg;
}

}  // namespace

const char* plot_colour(std::string_view kind) {
  if (kind == "floor") return "#b9b3a9";
  return kind == "ceiling" ? "#6a994e" : "#2a6f97";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string bar_plot(std::string_view title, std::string_view unit, std::span<const PlotBar> bars) {
  Axis axis;
  for (const PlotBar& bar : bars) {
    axis.left = std::max(axis.left, 16 + kLetterWidth * static_cast<double>(bar.label.size()));
    if (!std::isfinite(bar.value)) continue;
    for (const double x : {bar.value, bar.low, bar.high}) axis.include(x);
  }
  const double width = axis.left + kPlotWidth + kValueWidth;
  const double height = kTop + kRowHeight * static_cast<double>(bars.size()) + kBottom;
  const std::string heading =
      unit.empty() ? escaped(title) : fmt::format("{}, {}", escaped(title), escaped(unit));
  std::string svg = fmt::format(
      R"(<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" aria-label="{2}">)"
      R"(<text x="0" y="16" class="title">{2}</text>)",
      width, height, heading);
  double top = kTop;
  for (const PlotBar& bar : bars) {
    svg += bar_svg(bar, axis, top);
    top += kRowHeight;
  }
  svg += fmt::format(R"(<path d="M{0:.1f} {1:.1f}V{2:.1f}" stroke="#555"/></svg>)", axis.place(0),
                     kTop, height - kBottom);
  return svg;
}

}  // namespace hum::eval
