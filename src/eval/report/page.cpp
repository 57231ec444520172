#include "eval/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/json.h"
#include "eval/report/player.h"
#include "eval/report/plots.h"
#include "eval/report/site.h"

namespace hum::eval {
namespace {

constexpr const char* kHeadline[] = {"chroma", "note_f1",         "raw_pitch",
                                     "timbre", "preset_top1",     "mel_distance",
                                     "si_sdr", "real_time_factor"};

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.3g}", value.get<double>());
  return value.is_null() ? std::string() : to_text(value);
}

const Json& metric_of(const Json& report, std::string_view key) {
  const Json& metrics = report["metrics"];
  return *std::ranges::find_if(metrics, [&](const Json& metric) { return metric["key"] == key; });
}

// One table row per field; nested objects get rows of their own.
std::string field_rows(const Json& fields, const std::string& prefix = "") {
  std::string html;
  for (const auto& [key, value] : fields.items()) {
    const std::string name = prefix + key;
    html += value.is_object() ? field_rows(value, name + " ")
                              : fmt::format("<tr><td>{}</td><td>{}</td></tr>", escaped(name),
                                            escaped(text_of(value)));
  }
  return html;
}

std::string about(const Json& report) {
  return "<table>" + field_rows(report["about"]) + "</table>";
}

// One row per system and one column per metric; cells come from figures_of(row).
template <typename FiguresOf>
std::string system_table(const Json& report, std::span<const std::string> keys,
                         const FiguresOf& figures_of) {
  std::string html = "<div class=wide tabindex=0><table><tr><th>row</th>";
  for (const auto& key : keys) {
    const Json& metric = metric_of(report, key);
    html += fmt::format(
        "<th title=\"{}\">{}<small> {}</small></th>", escaped(metric["what"].get<std::string>()),
        escaped(metric["name"].get<std::string>()), escaped(metric["unit"].get<std::string>()));
  }
  html += "</tr>";
  for (const Json& row : report["rows"]) {
    const Json figures = figures_of(row);
    if (!figures.is_object()) continue;
    html += fmt::format("<tr class={}><td title=\"{}\">{}</td>", text_of(row["role"]),
                        escaped(text_of(row["what"])), escaped(text_of(row["name"])));
    for (const auto& key : keys) html += figure_cell(figures.value(key, Json()));
    html += "</tr>";
  }
  return html + "</table></div>";
}

std::vector<std::string> all_keys(const Json& report) {
  std::vector<std::string> keys;
  for (const Json& metric : report["metrics"]) keys.push_back(metric["key"]);
  return keys;
}

PlotBar bar_of(std::string label, std::string kind, const Json& figure) {
  const Json& f = figure;
  if (!f.is_object()) return {std::move(label), std::move(kind), number(Json()), 0, 0};
  return {std::move(label), std::move(kind), number(f["value"]), number(f["low"]),
          number(f["high"])};
}

bool has_values(std::span<const PlotBar> bars) {
  return std::ranges::any_of(bars, [](const PlotBar& bar) { return std::isfinite(bar.value); });
}

// One plot per metric: all rows over all clips.
std::string row_plots(const Json& report) {
  std::string html = "<div class=plots>";
  for (const Json& metric : report["metrics"]) {
    std::vector<PlotBar> bars;
    for (const Json& row : report["rows"]) {
      bars.push_back(bar_of(row["name"], row["role"],
                            row["groups"]["all"].value(metric["key"].get<std::string>(), Json())));
    }
    if (has_values(bars)) html += bar_plot(text_of(metric["name"]), text_of(metric["unit"]), bars);
  }
  return html + "</div>";
}

// One plot per headline metric: the first row over splits and modes.
std::string group_plots(const Json& report) {
  const Json& row = report["rows"][0];
  std::string html = "<div class=plots>";
  for (const char* key : kHeadline) {
    const Json& metric = metric_of(report, key);
    std::vector<PlotBar> bars;
    for (const auto& [group, figures] : row["groups"].items()) {
      bars.push_back(bar_of(fmt::format("{} ({})", group, text_of(report["groups"][group])),
                            group == "all" ? "ceiling" : "system", figures.value(key, Json())));
    }
    if (has_values(bars)) html += bar_plot(text_of(metric["name"]), text_of(metric["unit"]), bars);
  }
  return html + "</div>";
}

std::string fad(const Json& report) {
  std::vector<PlotBar> bars;
  for (const Json& row : report["rows"]) {
    if (!row["fad"].is_object()) continue;
    bars.push_back(bar_of(row["name"], row["role"],
                          {{"value", row["fad"]["value"]}, {"low", nullptr}, {"high", nullptr}}));
  }
  if (bars.empty()) return {};
  const Json& first = report["rows"][0]["fad"];
  return fmt::format(
      "<h2>Fr&eacute;chet distance</h2><p>Distance between the embeddings of {} clips per row and "
      "of the true renderings. It is biased upwards for few clips and not comparable with the FAD "
      "of another embedding.</p>{}",
      text_of(first["clips"]), bar_plot(text_of(first["embedding"]), "", bars));
}

// A table of an array of objects, one column per key.
std::string object_table(const Json& rows) {
  if (!rows.is_array() || rows.empty()) return {};
  std::string html = "<div class=wide tabindex=0><table><tr>";
  for (const auto& [key, unused] : rows[0].items()) html += "<th>" + escaped(key) + "</th>";
  html += "</tr>";
  for (const Json& row : rows) {
    html += "<tr>";
    for (const auto& [key, value] : row.items()) html += "<td>" + escaped(text_of(value)) + "</td>";
    html += "</tr>";
  }
  return html + "</table></div>";
}

std::string examples(const Json& report) {
  const char* test = report.contains("listening_test")
                         ? "<p><a class=\"primary link\" href=\"listening.html\">Rate them blind, "
                           "in ten minutes</a></p>"
                         : "";
  return test + players(report["examples"]);
}

std::string section(const char* heading, const char* words, const std::string& body) {
  return body.empty() ? std::string() : fmt::format("<h2>{}</h2><p>{}</p>{}", heading, words, body);
}

std::string metric_list(const Json& report) {
  std::string html = "<table>";
  for (const Json& metric : report["metrics"]) {
    html += fmt::format("<tr><td>{}</td><td style=\"text-align:left\">{}; {} is better</td></tr>",
                        escaped(text_of(metric["name"])), escaped(text_of(metric["what"])),
                        escaped(text_of(metric["better"])));
  }
  return html + "</table>";
}

}  // namespace

std::string figure_cell(const Json& figure) {
  if (!figure.is_object()) return "<td></td>";
  const std::string clips =
      figure.contains("clips") ? fmt::format(" title=\"{} clips\"", to_text(figure["clips"])) : "";
  std::string text = fmt::format("<td{}>{:.3g}", clips, number(figure["value"]));
  const double low = number(figure.value("low", Json())),
               high = number(figure.value("high", Json()));
  if (std::isfinite(low) && std::isfinite(high)) {
    text += fmt::format("<small>{:.3g} to {:.3g}</small>", low, high);
  }
  return text + "</td>";
}

std::string styled_page(const std::string& title, const std::string& body,
                        const std::string& style) {
  return fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8>"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}{2}</style><main><h1>{0}</h1>{3}</main></html>\n",
      escaped(title), page_file("report.css"), style, body);
}

std::string report_page(const Json& report) {
  const std::vector<std::string> headline(std::begin(kHeadline), std::end(kHeadline));
  const auto keys = all_keys(report);
  auto over_all = [](const Json& row) { return row["groups"]["all"]; };
  auto difference = [](const Json& row) {
    return row.contains("differences") ? row["differences"]["all"] : Json();
  };
  std::string html = about(report);
  html += section("Rows",
                  "Means over all clips with 95 % intervals (bootstrap over clips). Green: "
                  "ceilings; grey: floors, which are not valid answers.",
                  system_table(report, headline, over_all));
  html += section("Plots", "All rows over all clips.", row_plots(report));
  html += section("Seen and unseen, and the seven modes",
                  "The first row; number of clips in brackets.", group_plots(report));
  html +=
      section("Differences between rows",
              "Mean differences clip by clip: to the first row; for other weights to hum's row of "
              "the same kind; for baselines to that of 'aligned'. A difference is significant if "
              "its interval does not include zero.",
              system_table(report, headline, difference));
  html += fad(report);
  html +=
      section("Codebooks",
              "Bits per token (10 means that all 1,024 entries are used equally), and the share of "
              "the entries that occur.",
              object_table(report.value("codebooks", Json())));
  html += section("Real singing",
                  "Recordings of singers, played on eight instruments and compared with FluidSynth "
                  "playing the same notes. F1: onsets within 100 ms.",
                  object_table(report.value("real_singing", Json())));
  html += section("Real instruments",
                  "Recordings of instruments as timbre references. Rank 1: the output's timbre is "
                  "nearest to its own reference. Another recording of the same instrument may be "
                  "nearer without a fault.",
                  object_table(report.value("real_references", Json())));
  html += section("Examples",
                  "The sounds of a clip are equally loud and switch at the same place. Space plays "
                  "and pauses the outlined clip, 1 to 9 choose a sound, the arrow keys step "
                  "through all. In the pictures, outlines show the requested notes.",
                  examples(report));
  html += section("Not measured",
                  "Rows and figures that are missing from this report, with the reason.",
                  object_table(report.value("not_measured", Json())));
  html += section("Every figure", "Over all clips.", system_table(report, keys, over_all));
  html +=
      section("Definitions of the figures",
              "Each figure is tested against its reference implementation.", metric_list(report));
  return styled_page(text_of(report["title"]), html);
}

}  // namespace hum::eval
