#include "app/evaluation/stem_page.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/json.h"
#include "eval/report/page.h"
#include "eval/report/player.h"
#include "eval/report/plots.h"

namespace hum::app {
namespace {

using eval::escaped;

std::string text_of(const Json& value) { return escaped(value.get<std::string>()); }

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Empty if no song has the figure.
std::string cell(const Json& figure) {
  return figure["value"].is_null() ? "<td></td>" : eval::figure_cell(figure);
}

std::string table(const std::string& head, const std::string& rows) {
  return fmt::format("<div class=wide tabindex=0><table><tr>{}</tr>{}</table></div>", head, rows);
}

std::string section(const char* heading, const char* words, const std::string& body) {
  return fmt::format("<h2>{}</h2><p>{}</p>{}", heading, words, body);
}

// Stems and figures of one row: the estimates, a floor or a ceiling.
std::string figures_of(const Json& report, const std::string& row) {
  std::string head = "<th>stem</th>", rows;
  for (const Json& figure : report["figures"]) {
    head += fmt::format("<th title=\"{}\">{}<small> dB, {}</small></th>", text_of(figure["what"]),
                        text_of(figure["name"]), text_of(figure["over_songs"]));
  }
  for (const auto& [stem, cells] : report["stems"].items()) {
    rows += "<tr><td>" + escaped(stem) + "</td>";
    for (const Json& figure : report["figures"]) {
      rows += cell(cells[row][figure["key"].get<std::string>()]);
    }
    rows += "</tr>";
  }
  return table(head, rows);
}

std::string beside_floors(const Json& report) {
  std::string head = "<th>stem</th>", rows;
  for (const Json& row : report["rows"]) {
    head += fmt::format("<th title=\"{}\">{}</th>", text_of(row["what"]), text_of(row["name"]));
  }
  head += "<th>above best gain</th>";
  for (const auto& [stem, cells] : report["stems"].items()) {
    rows += "<tr><td>" + escaped(stem) + "</td>";
    for (const Json& row : report["rows"]) {
      rows += cell(cells[row["name"].get<std::string>()]["sdr"]);
    }
    rows += cell(report["above_best_gain"][stem]) + "</tr>";
  }
  return table(head, rows);
}

std::string plots(const Json& report) {
  std::string html = "<div class=plots>";
  for (const auto& [stem, cells] : report["stems"].items()) {
    std::vector<eval::PlotBar> bars;
    for (const Json& row : report["rows"]) {
      const Json& sdr = cells[row["name"].get<std::string>()]["sdr"];
      bars.push_back({row["name"].get<std::string>(), row["role"].get<std::string>(),
                      number(sdr["value"]), number(sdr["low"]), number(sdr["high"])});
    }
    html += eval::bar_plot(stem, "SDR in dB", bars);
  }
  return html + "</div>";
}

std::string song_table(const Json& report) {
  std::string head = "<th>song</th>", rows;
  for (const auto& [stem, cells] : report["stems"].items()) {
    head += "<th>" + escaped(stem) + "</th>";
  }
  for (const auto& [name, song] : report["songs"].items()) {
    rows += "<tr><td>" + escaped(name) + "</td>";
    for (const auto& [stem, cells] : report["stems"].items()) {
      const Json& figures = song["figures"];
      const double sdr =
          figures.contains(stem) ? number(figures[stem]["estimates"]["sdr"]) : number(Json());
      rows += std::isnan(sdr) ? "<td></td>" : fmt::format("<td>{:.2f}</td>", sdr);
    }
    rows += "</tr>";
  }
  return table(head, rows);
}

std::string definitions(const Json& report) {
  std::string rows;
  for (const char* list : {"figures", "rows"}) {
    for (const Json& item : report[list]) {
      rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>", text_of(item["name"]),
                          text_of(item["what"]));
    }
  }
  return "<table>" + rows + "</table>";
}

}  // namespace

std::string stem_page(const Json& report) {
  std::string html = fmt::format(
      "<p>{} songs: the stems in {} against those in {}.</p>", to_text(report["about"]["songs"]),
      text_of(report["about"]["estimates"]), text_of(report["about"]["references"]));
  html += section("Figures",
                  "Of the estimates, over songs, with 95 % intervals (bootstrap over songs).",
                  figures_of(report, "estimates"));
  html += section("Floors and ceilings",
                  "Mean SDR in dB. Floors know next to nothing, ceilings know the true stems. The "
                  "last column is the mean difference song by song to the mixture times its best "
                  "gain; it is significant if its interval does not include zero.",
                  beside_floors(report) + plots(report));
  html += section("Songs", "SDR of the estimates in dB.", song_table(report));
  html += section("Examples",
                  "The loudest ten seconds of a stem. Its sounds are equally loud and switch at "
                  "the same place. Space plays and pauses the outlined one, 1 to 9 choose a sound.",
                  eval::players(report["examples"]));
  for (const Json& row : report["rows"]) {
    if (row["role"] == "system") continue;
    html += section(fmt::format("Figures of {}", text_of(row["name"])).c_str(),
                    text_of(row["what"]).c_str(), figures_of(report, row["name"]));
  }
  html += section("Definitions", "", definitions(report));
  return eval::styled_page("Separated stems", html);
}

}  // namespace hum::app
