// Shared by the rules of an audit.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "plan/audit.h"
#include "plan/transformer.h"

namespace hum::plan::internal {

// A run and the entries that its names refer to.
struct RunFacts {
  const RunClaims& run;
  const ModelClaims* model = nullptr;  // nullptr: none, or none of this name
  const Device* device = nullptr;      // nullptr: none, or not known
  std::string subject() const { return run.name.empty() ? "the run" : "run " + run.name; }
  // Devices that a rank can run on; nothing if the plan does not state it.
  std::optional<double> cores_per_node() const;
  std::optional<double> cores() const;
  // dp x tp x pp, where dp and tp are stated.
  std::optional<double> ranks() const;
  // The final cost: compute and other, or whichever is stated.
  std::optional<double> cost() const;
  // Tokens trained on, from rate and time or as stated.
  std::optional<double> trained_tokens() const;
};

struct Facts {
  const PlanClaims& claims;
  const Hardware& hardware;
  std::vector<RunFacts> runs() const;
  const RunFacts run(const std::string& name) const;
  const Device* device(const std::string& name) const;
};

using Checks = std::vector<Check>;
using Places = std::vector<std::string>;

// Places of the stated figures.
template <typename... S>
Places places(const S&... figures) {
  Places result;
  (((figures) ? result.push_back(figures.place()) : void()), ...);
  return result;
}

// Counted from the shape; nothing if a size is missing.
std::optional<double> counted_parameters(const ModelClaims& model);
std::optional<double> parameters(const ModelClaims& model);

// Whether `stated` is `found` rounded: within half a unit of its last digit, 10 % at most.
bool is_rounded(double stated, double found);
// Percentages are truncated as often as rounded.
bool is_same_percent(double stated, double found);
bool is_within(double stated, double found, double share);

// The rules, by file: audit_shape.cpp, audit_cluster.cpp, audit_money.cpp.
void check_stated_twice(const Facts& facts, Checks& checks);
void check_one_name(const Facts& facts, Checks& checks);
void check_parameters(const Facts& facts, Checks& checks);
void check_heads(const Facts& facts, Checks& checks);
void check_layers(const Facts& facts, Checks& checks);
void check_positions(const Facts& facts, Checks& checks);
void check_batch(const Facts& facts, Checks& checks);
void check_ranks(const Facts& facts, Checks& checks);
void check_devices(const Facts& facts, Checks& checks);
void check_flops(const Facts& facts, Checks& checks);
void check_utilization(const Facts& facts, Checks& checks);
void check_hardware(const Facts& facts, Checks& checks);
void check_tools(const Facts& facts, Checks& checks);
void check_bill(const Facts& facts, Checks& checks);
void check_price(const Facts& facts, Checks& checks);
void check_savings(const Facts& facts, Checks& checks);
void check_speed(const Facts& facts, Checks& checks);
void check_same_job(const Facts& facts, Checks& checks);

}  // namespace hum::plan::internal
