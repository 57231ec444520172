// A measured bar: computed checks, one line of JSON, and a text table.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace hum::eval {

// A list of limits that are met or missed. NaN meets no limit.
class Checks {
 public:
  void at_least(const std::string& what, double value, double limit);
  void at_most(const std::string& what, double value, double limit);
  void holds(const std::string& what, bool value);

  // True if all checks hold and there is at least one.
  bool ok() const;
  // {"what": value, ...}
  const Json& values() const { return values_; }
  // Names of the missed checks.
  const std::vector<std::string>& missed() const { return missed_; }

 private:
  void add(const std::string& what, Json value, bool holds);

  Json values_ = Json::object();
  std::vector<std::string> missed_;
};

struct Bar {
  std::string name;
  Json value;        // the headline figure
  std::string unit;  // of the headline figure
  std::string bar;   // the limits in words
  Checks checks;
  Json ours = Json::object();  // further figures, beside those of the checks
  Json peer = Json::object();  // the ceilings and floors they are compared with
  std::string reason = {};     // why it cannot be judged here; empty if it can
};

// {"name", "value", "unit", "bar", "ok", "ours", "peer"}, "missed" if a limit was missed, "reason"
// if there is one: "ok" is null then.
Json to_json(const Bar& bar);

// Rows of text in aligned columns.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  // Adds a row with as many cells as the header.
  void row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hum::eval
