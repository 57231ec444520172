// Writes a scatter plot as a self-contained SVG file that marks the Pareto front.
#pragma once

#include <string>
#include <vector>

namespace hum::eval {

struct ScatterPoint {
  double x = 0, y = 0;
  std::string label;      // the tooltip; beside the plot for points on the front
  bool on_front = false;  // no other point is lower in both
};

struct ScatterPlot {
  std::string title, x_label, y_label;  // labels with their units
  std::string top_label;                // of a second x scale above the plot
  double top_per_x = 0;                 // its units per unit of x; 0: no second scale
  std::string limit_label;
  double y_limit = 0;                    // a dashed line; 0: none
  std::string front_label, other_label;  // names of the two kinds of points
  std::vector<ScatterPoint> points;      // figures above zero
};

// x is logarithmic if it spans more than a factor of ten; y starts at zero. Labels of the front are
// at the right, in the order of their points, and never overlap. Throws kBadData when there is no
// point.
std::string scatter_plot(const ScatterPlot& plot);

}  // namespace hum::eval
