#include "plan/nelder_mead.h"

#include <algorithm>
#include <cmath>

namespace hum::plan {

namespace {

struct Vertex {
  Point at;
  double value = 0;
};

// The largest coordinate difference.
double distance(const Point& a, const Point& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

class Simplex {
 public:
  Simplex(const std::function<double(const Point&)>& f, const Point& start, double step) : f_(f) {
    for (size_t v = 0; v <= start.size(); ++v) {
      Point at = start;
      if (v < start.size()) at[v] += step;
      vertices_.push_back(vertex(std::move(at)));
    }
    sort();
  }
  const Vertex& best() const { return vertices_.front(); }
  double spread() const { return distance(vertices_.front().at, vertices_.back().at); }
  void improve();

 private:
  Vertex vertex(Point at) const {
    const double value = f_(at);
    return {std::move(at), value};
  }
  // from + factor * (to - from)
  Vertex along(const Point& from, const Point& to, double factor) const {
    Point at = from;
    for (size_t i = 0; i < at.size(); ++i) at[i] += factor * (to[i] - from[i]);
    return vertex(std::move(at));
  }
  void sort() { std::ranges::sort(vertices_, {}, &Vertex::value); }
  Point middle_of_all_but_the_worst() const;

  const std::function<double(const Point&)>& f_;
  std::vector<Vertex> vertices_;  // best first
};

Point Simplex::middle_of_all_but_the_worst() const {
  Point middle(best().at.size(), 0.0);
  for (size_t v = 0; v + 1 < vertices_.size(); ++v) {
    for (size_t i = 0; i < middle.size(); ++i)
      middle[i] += vertices_[v].at[i] / static_cast<double>(middle.size());
  }
  return middle;
}

void Simplex::improve() {
  const Point middle = middle_of_all_but_the_worst();
  Vertex& worst = vertices_.back();
  Vertex reflected = along(middle, worst.at, -1);
  if (reflected.value < best().value) {
    Vertex expanded = along(middle, worst.at, -2);
    worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
  } else if (reflected.value < vertices_[vertices_.size() - 2].value) {
    worst = std::move(reflected);
  } else {
    Vertex contracted = along(middle, worst.at, reflected.value < worst.value ? -0.5 : 0.5);
    if (contracted.value < std::min(reflected.value, worst.value)) {
      worst = std::move(contracted);
    } else {
      for (size_t v = 1; v < vertices_.size(); ++v)
        vertices_[v] = along(best().at, vertices_[v].at, 0.5);
    }
  }
  sort();
}

}  // namespace

Point minimize(const std::function<double(const Point&)>& f, Point start, double step,
               double tolerance) {
  constexpr int kRounds = 4, kSteps = 1000;
  for (int round = 0; round < kRounds; ++round) {
    Simplex simplex(f, start, step);
    for (int i = 0; i < kSteps && simplex.spread() >= tolerance; ++i) simplex.improve();
    const double moved = distance(simplex.best().at, start);
    start = simplex.best().at;
    if (moved < tolerance) break;
  }
  return start;
}

}  // namespace hum::plan
