// Plots of a report as SVG text to embed in a page.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hum::eval {

// The style of text in plots, on a page or in separate files.
inline constexpr std::string_view kPlotStyle =
    "svg text { font: 12px system-ui, sans-serif; fill: #222; } svg .title { font-weight: 600; }";

// The colour of a kind: "floor", "ceiling", else that of our systems.
const char* plot_colour(std::string_view kind);

// Escapes text for HTML and SVG.
std::string escaped(std::string_view text);

struct PlotBar {
  std::string label;
  std::string kind;          // chooses the colour: "floor", "ceiling", else the systems'
  double value = 0;          // NaN: no bar, only its label
  double low = 0, high = 0;  // NaN: no interval
};

// Horizontal bars from zero with their intervals as whiskers and their values as text.
std::string bar_plot(std::string_view title, std::string_view unit, std::span<const PlotBar> bars);

}  // namespace hum::eval
