#include "app/plan/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "eval/report/scatter.h"

namespace hum::app {

namespace {

std::string layout_name(const Json& l) {
  return fmt::format(
      "tp {} x pp {} x dp {}, micro-batch {}{}, recompute {}", to_text(l["tp"]), to_text(l["pp"]),
      to_text(l["dp"]), to_text(l["micro_batch"]),
      l["interleave"] > 1 ? fmt::format(", {} chunks", to_text(l["interleave"])) : "",
      l["recompute"].get<std::string>());
}

// Chooses the unit of the cost axis, for costs of up to `most` dollars.
struct Unit {
  double dollars = 1e3;
  std::string label = "cost of the run, 1000 $";
};
Unit unit_of(double most) { return most < 2e6 ? Unit{} : Unit{1e6, "cost of the run, million $"}; }

// Dollars at one second per step; the rest of the run stays the same.
void add_cost(eval::ScatterPlot& plot, const Json& report) {
  const double step_s = report["step_s"];
  if (report.contains("cost")) {
    const double cost = report["cost"];
    const Unit unit = unit_of(cost);
    plot.top_label = unit.label;
    plot.top_per_x = cost / unit.dollars / step_s;
  } else if (report.contains("cost_per_million_tokens")) {
    plot.top_label = "cost per million tokens, $";
    plot.top_per_x = report["cost_per_million_tokens"].get<double>() / step_s;
  }
}

void mark_front(std::vector<eval::ScatterPoint>& points) {
  for (auto& point : points) {
    point.on_front = std::ranges::none_of(points, [&](const eval::ScatterPoint& other) {
      return other.x <= point.x && other.y <= point.y && (other.x < point.x || other.y < point.y);
    });
  }
}

}  // namespace

void require_plot(const std::filesystem::path& path) {
  if (path.extension() != ".svg")
    fail(ExitCode::kUsage, path.string() + ": plots are .svg files", "--plot front.svg");
  require_writable(path);
}

void write_layouts_plot(const std::filesystem::path& path, const Json& report) {
  eval::ScatterPlot plot{
      .title = fmt::format("Layouts of {} on {} x {}, {} sequences of {} tokens per step",
                           report["model"].get<std::string>(), to_text(report["nodes"]),
                           report["hardware"].get<std::string>(), to_text(report["global_batch"]),
                           to_text(report["sequence"])),
      .x_label = "step time, s",
      .y_label = "memory per device, GB",
      .limit_label = "device memory",
      .y_limit = report["memory_bytes"]["device"].get<double>() / 1e9,
      .front_label = "Pareto front",
      .other_label = "other layouts that fit"};
  add_cost(plot, report);
  for (const auto& l : report["layouts"]["fitting"])
    plot.points.push_back(
        {l["step_s"], l["memory_bytes"].get<double>() / 1e9, layout_name(l), l["pareto"]});
  write_file(path, eval::scatter_plot(plot));
}

void write_clusters_plot(const std::filesystem::path& path, const Json& report) {
  eval::ScatterPlot plot{
      .title = fmt::format("{}, {:.3g} tokens: on-demand clusters",
                           report["model"].get<std::string>(), report["tokens"].get<double>()),
      .x_label = "time of the run, days",
      .front_label = "Pareto front",
      .other_label = "other clusters"};
  for (const auto& c : report["clusters"]) {
    if (!c["fits"].get<bool>()) continue;
    const Json& offer = c["offers"]["on-demand"];
    plot.points.push_back({offer["days"], offer["cost"], c["cluster"]});
  }
  const Unit unit = unit_of(std::ranges::max(plot.points, {}, &eval::ScatterPoint::y).y);
  plot.y_label = unit.label;
  for (auto& point : plot.points) point.y /= unit.dollars;
  mark_front(plot.points);
  write_file(path, eval::scatter_plot(plot));
}

}  // namespace hum::app
