// A scatter plot as an SVG file that stands alone: what is best in both figures is marked.
#pragma once

#include <string>
#include <vector>

namespace hum::eval {

struct ScatterPoint {
  double x = 0, y = 0;
  std::string label;      // shown as a tip; beside the plot for points on the front
  bool on_front = false;  // no other point is lower in both
};

struct ScatterPlot {
  std::string title, x_label, y_label;  // labels with their units
  std::string top_label;                // of a second scale of x above the plot
  double top_per_x = 0;                 // its units in one of x; 0: no second scale
  std::string limit_label;
  double y_limit = 0;                    // a dashed line; 0: none
  std::string front_label, other_label;  // what the two kinds of points are
  std::vector<ScatterPoint> points;      // figures above zero
};

// x is logarithmic where it spans more than a factor of ten; y starts at zero. Labels of the front
// stand to the right, in the order of their points, and never overlap. Throws kBadData when there
// is no point.
std::string scatter_plot(const ScatterPlot& plot);

}  // namespace hum::eval
