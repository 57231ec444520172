// The report of `hum plan compare` as text.
#include <fmt/ranges.h>

#include "app/plan/comparison.h"
#include "eval/harness/bar.h"

namespace hum::app {

namespace {

std::string dollars(const Json& value) { return fmt::format("{:.0f}", value.get<double>()); }

std::string offer_cell(const Json& cluster, const char* tariff, const char* what, int digits) {
  if (!cluster["offers"].contains(tariff)) return "-";
  return fmt::format("{:.{}f}", cluster["offers"][tariff][what].get<double>(), digits);
}

std::string clusters_text(const Json& r) {
  eval::TextTable table({"cluster", "devices", "tokens/s", "MFU %", "days", "on demand $",
                         "interval $", "reserved $", "spot $", "spot days", "$/1M tokens", ""});
  for (const auto& c : r["clusters"]) {
    if (!c["fits"].get<bool>()) continue;
    const Json& demand = c["offers"]["on-demand"];
    table.row({c["cluster"], to_text(c["devices"]), dollars(c["tokens_per_s"]),
               fmt::format("{:.1f}", 100 * c["mfu"].get<double>()),
               offer_cell(c, "on-demand", "days", 1), dollars(demand["cost"]),
               fmt::format("{} to {}", dollars(demand["cost_low"]), dollars(demand["cost_high"])),
               offer_cell(c, "reserved", "cost", 0), offer_cell(c, "spot", "cost", 0),
               offer_cell(c, "spot", "days", 1),
               offer_cell(c, "on-demand", "cost_per_million_tokens", 4),
               c["outside"].empty() ? "" : "*"});
  }
  std::string text = table.text();
  for (const auto& c : r["clusters"]) {
    if (!c["fits"].get<bool>())
      text += fmt::format("{}: {}\n", c["cluster"].get<std::string>(), c["why"].get<std::string>());
  }
  return text;
}

std::string outside_text(const Json& r) {
  std::string text;
  for (const auto& c : r["clusters"]) {
    if (!c["fits"].get<bool>() || c["outside"].empty()) continue;
    text += fmt::format("  {}: {}\n", c["cluster"].get<std::string>(),
                        fmt::join(c["outside"].get<std::vector<std::string>>(), ", "));
  }
  if (text.empty()) return text;
  return "* outside the calibration, so its interval is twice as wide:\n" + text;
}

std::string moves_text(const Json& r) {
  std::string text = fmt::format("\nfrom {}, on demand\n", r["baseline"].get<std::string>());
  eval::TextTable table(
      {"to", "saved per run $", "weeks", "move $", "paid back after runs", "advice"});
  std::string reasons;
  for (const auto& c : r["clusters"]) {
    if (!c.contains("migration")) continue;
    const Json& m = c["migration"];
    const bool judged = c.contains("verdict");
    table.row({c["cluster"], dollars(m["saving_per_run"]),
               fmt::format("{:g}", m["weeks"].get<double>()), dollars(m["cost"]),
               m["break_even_runs"].is_null()
                   ? "never"
                   : fmt::format("{:.1f}", m["break_even_runs"].get<double>()),
               judged ? c["verdict"]["advice"].get<std::string>() : ""});
    if (!judged) continue;
    reasons +=
        fmt::format("  {}: {}: {}\n", c["cluster"].get<std::string>(),
                    c["verdict"]["advice"].get<std::string>(),
                    fmt::join(c["verdict"]["reasons"].get<std::vector<std::string>>(), "; "));
  }
  return r["clusters"].size() < 2 ? "" : text + table.text() + reasons;
}

std::string sensitivity_text(const Json& s) {
  const std::string tariff = s["tariff"].get<std::string>();
  if (s["rows"].empty()) return fmt::format("\nnone of the clusters has a price for {}\n", tariff);
  const std::string spread = fmt::format("{:g} %", 100 * s["spread"].get<double>());
  eval::TextTable table({"cost in $, " + tariff, "as is", "price -" + spread, "+" + spread,
                         "efficiency -" + spread, "+" + spread, "interruptions -" + spread,
                         "+" + spread});
  for (const auto& row : s["rows"]) {
    const Json& w = row["swings"];
    table.row({row["cluster"], dollars(row["cost"]), dollars(w["price"]["less"]),
               dollars(w["price"]["more"]), dollars(w["efficiency"]["less"]),
               dollars(w["efficiency"]["more"]), dollars(w["interruptions"]["less"]),
               dollars(w["interruptions"]["more"])});
  }
  const std::string cheapest = s["cheapest"].get<std::string>();
  const auto rivals = s["rivals"].get<std::vector<std::string>>();
  return "\n" + table.text() +
         (rivals.empty() ? fmt::format("{} is the cheapest in every case\n", cheapest)
                         : fmt::format("{} is the cheapest; if one of its figures is off, "
                                       "{} may be cheaper\n",
                                       cheapest, fmt::join(rivals, ", ")));
}

std::string phases_text(const Json& p) {
  eval::TextTable table({"phase", "cluster", "days", "on demand $", "reserved $", "spot $"});
  const auto add = [&](const Json& row, std::vector<std::string> cells) {
    for (const char* tariff : {"on-demand", "reserved", "spot"})
      cells.push_back(row.contains(tariff) ? dollars(row[tariff]) : "-");
    table.row(cells);
  };
  for (const auto& row : p["rows"])
    add(row, {row["name"], row["cluster"], fmt::format("{:g}", row["days"].get<double>())});
  add(p["total"], {"total", "", ""});
  return "\n" + table.text();
}

std::string budget_text(const Json& r) {
  std::string text =
      fmt::format("\nfor ${:.0f} on demand, billions of tokens:", r["budget"].get<double>());
  for (const auto& c : r["clusters"]) {
    if (c.contains("tokens_for_budget"))
      text += fmt::format(" {} {:.1f}", c["cluster"].get<std::string>(),
                          c["tokens_for_budget"].get<double>() / 1e9);
  }
  return text + "\n";
}

}  // namespace

std::string comparison_text(const Json& r) {
  std::string text = fmt::format(
      "{}: {:.2f}B parameters, {} sequences of {} tokens per step, {:.3g} tokens; intervals cover "
      "{:.0f} % of cases like the calibration's\n",
      r["model"].get<std::string>(), r["parameters"].get<double>() / 1e9,
      r["global_batch"].get<int64_t>(), r["sequence"].get<int64_t>(), r["tokens"].get<double>(),
      100 * r["interval_probability"].get<double>());
  text += clusters_text(r) + outside_text(r) + moves_text(r) + sensitivity_text(r["sensitivity"]);
  if (r.contains("budget")) text += budget_text(r);
  if (r.contains("phases")) text += phases_text(r["phases"]);
  return text;
}

}  // namespace hum::app
