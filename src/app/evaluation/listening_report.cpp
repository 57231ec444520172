#include "app/evaluation/listening_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/names.h"
#include "eval/harness/bar.h"
#include "eval/listening/answers.h"
#include "eval/listening/listening_scores.h"

namespace hum::app {
namespace {

std::string score_text(const Json& value) {
  return value.is_number() ? fmt::format("{:.1f}", value.get<double>()) : "-";
}

std::string table_of(const Json& systems) {
  eval::TextTable table({"system", "mean", "95 % interval", "median", "scores"});
  for (const Json& row : systems) {
    const std::string interval =
        row["low"].is_number()
            ? fmt::format("{} to {}", score_text(row["low"]), score_text(row["high"]))
            : "-";
    table.row({row["system"].get<std::string>(), score_text(row["mean"]), interval,
               score_text(row["median"]), to_text(row["scores"])});
  }
  return table.text();
}

}  // namespace

Json listening_report(const std::vector<std::string>& files) {
  std::vector<eval::Answers> all;
  for (const std::string& file : files) all.push_back(eval::read_answers(file));
  eval::require_one_test(all);
  const eval::ListeningScores scores = eval::listening_scores(all);
  Json report = {
      {"test", all.front().test}, {"listeners", Json::array()}, {"systems", Json::array()}};
  for (const auto& listener : scores.listeners) {
    report["listeners"].push_back({{"listener", listener.listener},
                                   {"file", listener.file},
                                   {"trials", listener.trials},
                                   {"low_references", listener.low_references},
                                   {"excluded", listener.is_excluded}});
  }
  for (const auto& system : scores.systems) {
    report["systems"].push_back({{"system", system.system},
                                 {"scores", system.scores},
                                 {"mean", system.mean},
                                 {"low", finite_or_null(system.low)},
                                 {"high", finite_or_null(system.high)},
                                 {"median", system.median}});
  }
  return report;
}

std::string listening_text(const Json& report) {
  const Json& listeners = report["listeners"];
  const auto excluded = std::ranges::count_if(
      listeners, [](const Json& listener) { return listener["excluded"].get<bool>(); });
  std::string text =
      fmt::format("{}, {} excluded\n", counted(static_cast<int64_t>(listeners.size()), "listener"),
                  excluded == 0 ? "none" : fmt::format("{}", excluded));
  for (const Json& listener : listeners) {
    if (!listener["excluded"].get<bool>()) continue;
    text +=
        fmt::format("excluded: {} rated the hidden reference below 90 in {} of {}\n",
                    listener["listener"].get<std::string>(), to_text(listener["low_references"]),
                    counted(listener["trials"].get<int64_t>(), "trial"));
  }
  return text + (report["systems"].empty() ? "no listener is left\n" : table_of(report["systems"]));
}

}  // namespace hum::app
