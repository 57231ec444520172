#include "plan/claims.h"

#include <algorithm>
#include <cmath>

#include "base/fields_json.h"
#include "base/files.h"
#include "plan/claim_keys.h"
#include "plan/script.h"

namespace hum::plan {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSections[] = {"models", "runs", "comparisons", "hardware", "tools"};

// Sets the place of every figure of a struct.
struct Locator {
  std::string where;
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    if constexpr (std::is_same_v<T, Stated>) value.locate(fmt::format("{}.{}", where, name));
  }
};

constexpr std::string_view kFractions[] = {
    "seconds",        "frames_per_second",   "days",           "tokens_per_second",
    "price_per_hour", "price_per_node_hour", "cost_per_month", "utilization_percent",
    "compute_cost",   "other_cost",          "total_cost"};

// Rejects counts that are not whole numbers.
struct CountChecker {
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    if constexpr (std::is_same_v<T, Stated>) {
      if (std::ranges::find(kFractions, name) != std::end(kFractions)) return;
      for (const Claim& claim : value.all()) {
        if (claim.value == std::floor(claim.value) && claim.value <= 1e15) continue;
        fail(ExitCode::kBadData,
             fmt::format("{}: {} = {} is not a count", claim.place, name, claim.value),
             "a whole number up to 1e15");
      }
    }
  }
};

// The entries of one section: name -> fields.
template <typename T>
void read_section(const Json& plan, const char* section, const std::string& file,
                  std::vector<T>& into) {
  const auto found = plan.find(section);
  if (found == plan.end()) return;
  if (!found->is_object()) {
    fail(ExitCode::kConfig, fmt::format("{} is not a mapping", section),
         "it maps names to fields: docs/formats/plans.md");
  }
  for (const auto& [name, fields] : found->items()) {
    const std::string where = fmt::format("{}: {}.{}", file, section, name);
    const ErrorContext context([&] { return "reading " + where; });
    T entry;
    hum::from_json(fields, entry);
    entry.name = name;
    if constexpr (requires { entry.place; }) entry.place = where;
    Locator locator{where};
    entry.visit_fields(locator);
    into.push_back(std::move(entry));
  }
}

bool is_plan(const Json& file) {
  return std::ranges::any_of(kSections, [&](const char* name) {
    return file.contains(name) && file[name].is_structured();
  });
}

void read_plan(const Json& plan, const std::string& file, PlanClaims& claims) {
  for (const auto& [key, unused] : plan.items()) {
    if (std::ranges::find(kSections, key) != std::end(kSections)) continue;
    fail(ExitCode::kConfig, fmt::format("unknown section '{}'", key),
         fmt::format("the sections are: {}", fmt::join(kSections, ", ")));
  }
  read_section(plan, "models", file, claims.models);
  read_section(plan, "runs", file, claims.runs);
  read_section(plan, "comparisons", file, claims.comparisons);
  read_section(plan, "hardware", file, claims.hardware);
  read_section(plan, "tools", file, claims.tools);
}

// Every scalar of a configuration, and every list of scalars, at any depth.
void flatten(const Json& json, const std::string& file, const std::string& path,
             std::vector<Setting>& settings) {
  for (const auto& [key, value] : json.items()) {
    const std::string place = path.empty() ? key : path + "." + key;
    const bool deep = std::any_of(value.begin(), value.end(),
                                  [](const Json& item) { return item.is_structured(); });
    if (value.is_object() || (value.is_array() && deep)) {
      flatten(value, file, place, settings);
    } else if (!value.is_null()) {
      settings.push_back({key, value.is_string() ? value.get<std::string>() : to_text(value),
                          fmt::format("{}: {}", file, place), !value.is_array()});
    }
  }
}

bool is_script(const fs::path& path) {
  const auto ending = path.extension();
  return ending == ".sh" || ending == ".sbatch" || ending == ".slurm" || ending == ".bash" ||
         read_text(path).starts_with("#!");
}

// Reads the settings of a configuration or script; adds a plan's claims to `claims`.
std::vector<Setting> read_settings(const fs::path& path, PlanClaims& claims) {
  const std::string name = path.filename().string();
  const ErrorContext context([&] { return "reading " + path.string(); });
  if (is_script(path)) return read_script(read_text(path), name);
  const Json file = path.extension() == ".json" ? read_json(path) : read_yaml(path);
  if (!file.is_object()) {
    fail(ExitCode::kBadData, "not a mapping", "a plan has " + fmt::format("{}", kPlanForms));
  }
  std::vector<Setting> settings;
  if (is_plan(file)) {
    read_plan(file, name, claims);
  } else {
    flatten(file, name, "", settings);
  }
  return settings;
}

}  // namespace

void from_json(const Json& json, Stated& stated) {
  const double value = json.is_number() ? json.get<double>() : 0;
  if (!(value > 0) || !std::isfinite(value)) {
    fail(ExitCode::kBadData, fmt::format("not a figure above zero: {}", to_text(json)),
         "write a number without unit; omit the field if the plan does not state it");
  }
  stated = {};
  stated.add({value, ""});
}

PlanClaims read_claims(const std::vector<fs::path>& files) {
  PlanClaims claims;
  std::vector<std::pair<fs::path, std::vector<Setting>>> configurations;
  for (const fs::path& path : files) {
    if (auto settings = read_settings(path, claims); !settings.empty()) {
      configurations.emplace_back(path, std::move(settings));
    } else if (claims.models.empty() && claims.runs.empty() && claims.comparisons.empty() &&
               claims.hardware.empty() && claims.tools.empty()) {
      fail(ExitCode::kBadData, path.string() + " has no figure of a training plan",
           fmt::format("a plan has {}", kPlanForms));
    }
  }
  for (const auto& [path, settings] : configurations) {
    const ErrorContext context([&path = path] { return "reading " + path.string(); });
    if (claim_settings(settings, claims) > 0) continue;
    fail(ExitCode::kBadData, "no figure of a training plan",
         fmt::format("a plan has {}", kPlanForms));
  }
  CountChecker checker;
  for (ModelClaims& model : claims.models) model.visit_fields(checker);
  for (RunClaims& run : claims.runs) run.visit_fields(checker);
  return claims;
}

}  // namespace hum::plan
