// A measured bar: checks whose outcome is computed, one line of JSON, and a table for people.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace hum::eval {

// A list of limits that were met or not. A figure that is not a number meets none.
class Checks {
 public:
  void at_least(const std::string& what, double value, double limit);
  void at_most(const std::string& what, double value, double limit);
  void holds(const std::string& what, bool value);

  // All hold, and there is one at least.
  bool ok() const;
  // {"what": value, ...}
  const Json& values() const { return values_; }
  // Names of those that do not hold.
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
};

// {"name", "value", "unit", "bar", "ok", "ours", "peer"}, and "missed" where a limit was.
Json to_json(const Bar& bar);

// Rows of text in aligned columns.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  // As many cells as the header.
  void row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hum::eval
