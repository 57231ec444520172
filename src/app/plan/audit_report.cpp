#include "app/plan/audit_report.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "app/plan/planner_files.h"
#include "base/log.h"
#include "base/names.h"

namespace hum::app {

namespace {

std::string side_text(const plan::Side& side) {
  return plan::figure_text(side.value) + " " + side.text;
}

// Warns of figures that are not checked, because they must not look like agreement.
void warn_of_unknown(const plan::PlanClaims& claims, const plan::Hardware& hardware) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : hardware.devices()) names.push_back(name);
  for (const auto& run : claims.runs) {
    if (run.hardware.empty() || hardware.find(run.hardware) != nullptr) continue;
    warn_once(run.hardware,
              fmt::format("hardware {} is not known, so its figures are not checked; the nearest "
                          "names are {}",
                          run.hardware, fmt::join(nearest_names(run.hardware, names), ", ")));
  }
}

}  // namespace

bool AuditedPlan::agrees() const { return std::ranges::all_of(checks, &plan::Check::agrees); }

AuditedPlan audit_plan(const std::vector<std::string>& files, const std::string& hardware_name,
                       const std::string& hardware_file) {
  const plan::Hardware hardware = read_hardware(hardware_file);
  plan::PlanClaims claims = plan::read_claims({files.begin(), files.end()});
  if (!hardware_name.empty()) {
    hardware.at(hardware_name);
    for (auto& run : claims.runs) {
      if (run.hardware.empty()) run.hardware = hardware_name;
    }
  }
  warn_of_unknown(claims, hardware);
  auto checks = plan::audit(claims, hardware);
  if (checks.empty()) {
    fail(ExitCode::kBadData,
         fmt::format("{}: no figure of the plan can be checked", fmt::join(files, ", ")),
         "a check compares two or more figures, such as nodes with dp and tp, or tokens with days: "
         "see docs/formats/plans.md");
  }
  return {std::move(claims), std::move(checks)};
}

Json audit_report(const AuditedPlan& audited) {
  const auto side = [](const plan::Side& side) {
    return Json{{"value", side.value}, {"what", side.text}};
  };
  Json rows = Json::array();
  for (const plan::Check& check : audited.checks) {
    rows.push_back({{"rule", check.rule},
                    {"subject", check.subject},
                    {"agrees", check.agrees},
                    {"stated", side(check.stated)},
                    {"found", side(check.found)},
                    {"places", check.places},
                    {"remedy", check.agrees ? Json(nullptr) : Json(check.remedy)}});
  }
  Json unread = Json::array();
  for (const plan::Setting& setting : audited.claims.not_read) {
    unread.push_back({{"name", setting.key}, {"value", setting.value}, {"place", setting.place}});
  }
  const auto wrong = std::ranges::count(audited.checks, false, &plan::Check::agrees);
  return {{"consistent", wrong == 0},
          {"contradictions", wrong},
          {"checks", rows},
          {"not_read", unread}};
}

std::string audit_text(const AuditedPlan& audited) {
  std::string text;
  for (const plan::Check& check : audited.checks) {
    if (check.agrees) {
      text += fmt::format("agrees      {}, {}: {}; {}\n", check.rule, check.subject,
                          side_text(check.stated), side_text(check.found));
    }
  }
  for (const plan::Setting& setting : audited.claims.not_read) {
    text +=
        fmt::format("{:12}{} = {}, at {}\n", "not read", setting.key, setting.value, setting.place);
  }
  for (const plan::Check& check : audited.checks) {
    if (check.agrees) continue;
    text += fmt::format("CONTRADICTS {}, {}: {}, but {}\n", check.rule, check.subject,
                        side_text(check.stated), side_text(check.found));
    if (!check.remedy.empty()) text += fmt::format("{:12}would agree: {}\n", "", check.remedy);
    for (const std::string& place : check.places) text += fmt::format("{:12}at {}\n", "", place);
  }
  const auto wrong = std::ranges::count(audited.checks, false, &plan::Check::agrees);
  return text + fmt::format("{}, {}, {} not read\n", counted(std::ssize(audited.checks), "check"),
                            counted(wrong, "contradiction"),
                            counted(std::ssize(audited.claims.not_read), "figure"));
}

}  // namespace hum::app
