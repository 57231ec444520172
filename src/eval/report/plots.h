// Plots of a report as SVG text, to stand inside a page.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hum::eval {

// Of text in plots: on a page, or in a file of their own.
inline constexpr std::string_view kPlotStyle =
    "svg text { font: 12px system-ui, sans-serif; fill: #222; } svg .title { font-weight: 600; }";

// Of what is shown: "floor", "ceiling", else our own.
const char* plot_colour(std::string_view kind);

// Text as it may stand in HTML and SVG.
std::string escaped(std::string_view text);

struct PlotBar {
  std::string label;
  std::string kind;          // "system", "floor", "ceiling": the colour; else the systems' colour
  double value = 0;          // not a number: the bar is left out, its label stays
  double low = 0, high = 0;  // not a number: no interval is drawn
};

// Horizontal bars from zero with their intervals as whiskers and their values as text.
std::string bar_plot(std::string_view title, std::string_view unit, std::span<const PlotBar> bars);

}  // namespace hum::eval
