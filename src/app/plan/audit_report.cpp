#include <algorithm>

#include "app/plan/report.h"
#include "base/json.h"

namespace hum::app {

namespace {

std::string side_text(const plan::Side& side) {
  return plan::figure_text(side.value) + " " + side.text;
}

}  // namespace

Json audit_report(const std::vector<plan::Check>& checks) {
  const auto side = [](const plan::Side& side) {
    return Json{{"value", side.value}, {"what", side.text}};
  };
  Json rows = Json::array();
  for (const plan::Check& check : checks) {
    rows.push_back({{"rule", check.rule},
                    {"subject", check.subject},
                    {"agrees", check.agrees},
                    {"stated", side(check.stated)},
                    {"found", side(check.found)},
                    {"places", check.places},
                    {"remedy", check.agrees ? Json(nullptr) : Json(check.remedy)}});
  }
  const auto wrong = std::ranges::count(checks, false, &plan::Check::agrees);
  return {{"consistent", wrong == 0}, {"contradictions", wrong}, {"checks", rows}};
}

std::string audit_text(const std::vector<plan::Check>& checks) {
  std::string text;
  for (const plan::Check& check : checks) {
    if (check.agrees) {
      text += fmt::format("agrees      {}, {}: {}; {}\n", check.rule, check.subject,
                          side_text(check.stated), side_text(check.found));
    }
  }
  for (const plan::Check& check : checks) {
    if (check.agrees) continue;
    text += fmt::format("CONTRADICTS {}, {}: {}, but {}\n", check.rule, check.subject,
                        side_text(check.stated), side_text(check.found));
    if (!check.remedy.empty()) text += fmt::format("{:12}would agree: {}\n", "", check.remedy);
    for (const std::string& place : check.places) text += fmt::format("{:12}at {}\n", "", place);
  }
  const auto wrong = std::ranges::count(checks, false, &plan::Check::agrees);
  return text + fmt::format("{} checks, {} contradictions\n", checks.size(), wrong);
}

}  // namespace hum::app
