// The simplex method of Nelder and Mead (1965), with restarts.
#pragma once

#include <functional>
#include <vector>

namespace hum::plan {

using Point = std::vector<double>;

// The point with the smallest f found from `start`; each round's first simplex has edges of `step`.
// Restarts until a round moves no coordinate by `tolerance`, for at most four rounds.
Point minimize(const std::function<double(const Point&)>& f, Point start, double step,
               double tolerance);

}  // namespace hum::plan
