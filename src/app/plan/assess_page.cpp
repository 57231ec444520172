// Writes the page of `hum plan assess` as Markdown or HTML: parts with headings, text, tables and
// lists.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "app/plan/assess.h"
#include "base/json.h"
#include "eval/report/page.h"
#include "eval/report/plots.h"
#include "plan/audit.h"

namespace hum::app {

namespace {

using Row = std::vector<std::string>;

struct Part {
  std::string heading, words;
  std::vector<Row> table = {};  // its first row is the header
  std::vector<std::string> list = {};
  bool wide = false;  // spans both columns of the page
};

std::string whole(const Json& value) { return plan::figure_text(std::round(value.get<double>())); }
std::string money(const Json& value) { return "$" + whole(value); }
std::string percent(const Json& share) {
  return fmt::format("{:.1f} %", 100 * share.get<double>());
}
std::string text(const Json& value) { return value.get<std::string>(); }

// A row with both sides of a figure, each written by `cell`.
template <typename Cell>
Row sides(const std::string& what, const Json& r, const Cell& cell) {
  return {what, cell(r["from"]), cell(r["to"])};
}

std::string offer_cell(const Json& side, const char* tariff) {
  if (!side["offers"].contains(tariff)) return "not sold";
  const Json& offer = side["offers"][tariff];
  return fmt::format("{} ({:.1f} days)", money(offer["cost"]), offer["days"].get<double>());
}

std::string migration_words(const Json& m) {
  return fmt::format(
      "Moving takes {:.1f} weeks of one engineer ({:.1f} to {:.1f}), {}. {} per run ({:.0f} %): "
      "{}.",
      m["weeks"].get<double>(), m["weeks_low"].get<double>(), m["weeks_high"].get<double>(),
      money(m["cost"]),
      m["saving_per_run"].get<double>() >= 0
          ? "Saved: " + money(m["saving_per_run"])
          : "Extra cost: $" + plan::figure_text(std::round(-m["saving_per_run"].get<double>())),
      m["saving_percent"].get<double>(),
      m["break_even_runs"].is_null()
          ? "never paid back"
          : fmt::format("paid back after {:.1f} runs", m["break_even_runs"].get<double>()));
}

Part cost_part(const Json& r) {
  Part part{"Time and cost of a run", ""};
  part.table = {
      sides("", r, [](const Json& s) { return text(s["cluster"]); }),
      sides("devices", r, [](const Json& s) { return to_text(s["devices"]); }),
      sides("layout", r,
            [](const Json& s) {
              return fmt::format("tp {} pp {} dp {}", to_text(s["tp"]), to_text(s["pp"]),
                                 to_text(s["dp"]));
            }),
      sides("memory per device", r,
            [](const Json& s) {
              return fmt::format("{:.1f} of {:.1f} GB", s["memory_bytes"].get<double>() / 1e9,
                                 s["memory_limit_bytes"].get<double>() / 1e9);
            }),
      sides("step time", r,
            [](const Json& s) {
              return fmt::format("{:.2f} s ({:.2f} to {:.2f})", s["step_s"].get<double>(),
                                 s["low_s"].get<double>(), s["high_s"].get<double>());
            }),
      sides("tokens per second", r, [](const Json& s) { return whole(s["tokens_per_s"]); }),
      sides("MFU", r, [](const Json& s) { return percent(s["mfu"]); }),
      sides("on demand", r, [](const Json& s) { return offer_cell(s, "on-demand"); }),
      sides("interval", r,
            [](const Json& s) {
              const Json& offer = s["offers"]["on-demand"];
              return fmt::format("{} to {}", money(offer["cost_low"]), money(offer["cost_high"]));
            }),
      sides("reserved", r, [](const Json& s) { return offer_cell(s, "reserved"); }),
      sides("spot", r, [](const Json& s) { return offer_cell(s, "spot"); })};
  part.words = migration_words(r["migration"]);
  return part;
}

Part thresholds_part(const Json& r) {
  Part part{"Thresholds",
            "All rows but the last are from a field report on Trainium.",
            {{"condition", "this plan", "strongest advice"}}};
  for (const auto& t : r["thresholds"])
    part.table.push_back({text(t["what"]), text(t["here"]), text(t["at_most"])});
  return part;
}

Part operators_part(const Json& r) {
  const Json& operators = r["operators"];
  Part part{"Operators of the training step",
            "Shares are of the step's floating-point operations.",
            {{"", "kinds", "uses", "share"}}};
  for (const auto& [support, group] : operators["groups"].items())
    part.table.push_back(
        {support, to_text(group["kinds"]), to_text(group["count"]), percent(group["flops_share"])});
  std::set<std::string> sources;
  for (const auto& row : operators["rows"]) {
    const std::string support = text(row["support"]);
    if (support == "supported") continue;
    sources.insert(text(row["source"]));
    const auto where = row["where"].get<std::vector<std::string>>();
    part.list.push_back(
        fmt::format("{} ({}, {}, {}): {}{}", text(row["op"]), support,
                    row["count"] == 1 ? "once" : to_text(row["count"]) + " times",
                    where.empty() ? "" : where.front(), text(row["hint"]),
                    row["rewritten"].get<bool>() ? "; hum's lowering does this" : ""));
  }
  if (!sources.empty()) part.words += fmt::format(" Sources: {}.", fmt::join(sources, "; "));
  return part;
}

Part changes_part(const Json& r) {
  Part part{"What changes in the training program", "", {{"", ""}}};
  for (const auto& change : r["changes"])
    part.table.push_back({text(change["what"]), text(change["how"])});
  return part;
}

Part risks_part(const Json& r) {
  return {"Risks", "", {}, r["risks"].get<std::vector<std::string>>()};
}

Part stages_part(const Json& r) {
  Part part{"Steps", "", {{"step", "what", "continue if", "days", "cost"}}};
  part.wide = true;
  double days = 0, cost = 0;
  for (const auto& stage : r["stages"]) {
    part.table.push_back({text(stage["name"]), text(stage["what"]), text(stage["gate"]),
                          fmt::format("{:.1f}", stage["days"].get<double>()),
                          money(stage["cost"])});
    days += stage["days"].get<double>();
    cost += stage["cost"].get<double>();
  }
  const double home = r["from"]["offers"]["on-demand"]["cost"];
  part.table.push_back(
      {"total",
       fmt::format("the first run on the target; a run on the current cluster costs {}",
                   money(home)),
       "", fmt::format("{:.1f}", days), money(cost)});
  return part;
}

std::string title(const Json& r) {
  return fmt::format("Migration assessment: {}, {} to {}", text(r["model"]),
                     text(r["from"]["cluster"]), text(r["to"]["cluster"]));
}

std::string subject(const Json& r) {
  return fmt::format(
      "{:.2f}B parameters, {:.3g} tokens, {} sequences of {} tokens per step. Intervals cover "
      "{:.0f} % "
      "of cases like the calibration's; costs are in US dollars, on demand unless stated "
      "otherwise.",
      r["parameters"].get<double>() / 1e9, r["tokens"].get<double>(), to_text(r["global_batch"]),
      to_text(r["sequence"]), 100 * r["interval_probability"].get<double>());
}

std::vector<Part> parts(const Json& r) {
  return {cost_part(r),    thresholds_part(r), operators_part(r),
          changes_part(r), risks_part(r),      stages_part(r)};
}

std::string markdown_row(const Row& row) {
  std::string line = "|";
  for (const auto& cell : row) line += " " + cell + " |";
  return line + "\n";
}

std::string markdown(const Part& part) {
  std::string out = "\n## " + part.heading + "\n";
  if (!part.words.empty()) out += part.words + "\n";
  for (size_t i = 0; i < part.table.size(); ++i) {
    if (i == 0) out += "\n";
    out += markdown_row(part.table[i]);
    if (i == 0) out += markdown_row(Row(part.table[0].size(), "---"));
  }
  if (!part.list.empty()) out += "\n";
  for (const auto& item : part.list) out += "- " + item + "\n";
  return out;
}

std::string html_row(const Row& row, const char* cell) {
  std::string line = "<tr>";
  for (const auto& text : row) line += fmt::format("<{0}>{1}</{0}>", cell, eval::escaped(text));
  return line + "</tr>";
}

bool is_blank(const Row& row) {
  return std::ranges::all_of(row, [](const std::string& cell) { return cell.empty(); });
}

std::string html(const Part& part) {
  std::string out = fmt::format("<section{}><h2>{}</h2>", part.wide ? " class=across" : "",
                                eval::escaped(part.heading));
  if (!part.words.empty()) out += "<p>" + eval::escaped(part.words) + "</p>";
  if (!part.table.empty()) {
    out += "<table>";
    if (!is_blank(part.table[0])) out += html_row(part.table[0], "th");
    for (size_t i = 1; i < part.table.size(); ++i) out += html_row(part.table[i], "td");
    out += "</table>";
  }
  if (!part.list.empty()) {
    out += "<ul>";
    for (const auto& item : part.list) out += "<li>" + eval::escaped(item) + "</li>";
    out += "</ul>";
  }
  return out + "</section>";
}

constexpr const char* kStyle = R"(
.verdict { border-left: .5rem solid #b8862b; padding: .1rem 1rem; background: #f6f1e6;
  color: #222; }
.verdict.stay { border-color: #a33; } .verdict.move { border-color: #4a7434; }
.verdict b { text-transform: uppercase; }
.parts { columns: 2; column-gap: 2rem; } section { break-inside: avoid; }
section.across { column-span: all; }
h2 { margin: .9rem 0 .2rem; } p { margin: .3rem 0; } ul { margin: .3rem 0; padding-left: 1.1rem; }
table { width: 100%; margin: .2rem 0; } th, td { text-align: left; vertical-align: top; }
@page { size: A4; margin: 10mm 11mm; }
@media print { body { font-size: 8.2pt; line-height: 1.3; margin: 0; padding: 0; max-width: none;
  background: none; } h1 { font-size: 13pt; margin: 0 0 .3rem; } h2 { font-size: 9.5pt; }
  table { font-size: 7.6pt; } th, td { padding: .1rem .35rem; } .parts { column-gap: 6mm; } }
)";

}  // namespace

std::string assessment_markdown(const Json& r) {
  std::string out =
      fmt::format("# {}\n{}\n\n**{}**\n\n", title(r), subject(r), text(r["verdict"]["advice"]));
  for (const auto& reason : r["verdict"]["reasons"]) out += "- " + text(reason) + "\n";
  for (const Part& part : parts(r)) out += markdown(part);
  return out;
}

std::string assessment_page(const Json& r) {
  const std::string advice = text(r["verdict"]["advice"]);
  std::string body = fmt::format("<p>{}</p><div class=\"verdict {}\"><b>{}</b><ul>",
                                 eval::escaped(subject(r)), advice, advice);
  for (const auto& reason : r["verdict"]["reasons"])
    body += "<li>" + eval::escaped(text(reason)) + "</li>";
  body += "</ul></div><div class=parts>";
  for (const Part& part : parts(r)) body += html(part);
  return eval::styled_page(title(r), body + "</div>", kStyle);
}

}  // namespace hum::app
