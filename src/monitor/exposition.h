// Figures as text that Prometheus reads, version 0.0.4 of its format.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hum::monitor {

// How many durations were how long.
class Durations {
 public:
  // `ends_s`: the upper ends of the buckets, rising; another bucket has no end.
  explicit Durations(std::span<const double> ends_s)
      : ends_s_(ends_s.begin(), ends_s.end()), counts_(ends_s.size() + 1) {}
  void add(double seconds);

 private:
  friend class Exposition;
  std::vector<double> ends_s_;
  std::vector<int64_t> counts_;
  double sum_s_ = 0;
};

// Builds the text, one family of figures after another.
class Exposition {
 public:
  // `type`: counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);
  // A figure of the family. `labels`: as a="b",c="d", or empty; their values need plain_label().
  template <typename Number>
  void value(const std::string& labels, Number number, std::string_view suffix = "") {
    const std::string_view open = labels.empty() ? "" : "{", close = labels.empty() ? "" : "}";
    text_ += fmt::format("{}{}{}{}{} {}\n", name_, suffix, open, labels, close, number);
  }
  void value(const std::string& labels, const Durations& durations);
  std::string take() && { return std::move(text_); }

 private:
  std::string name_, text_;
};

// The text without what the value of a label would have to escape.
std::string plain_label(std::string_view text);

}  // namespace hum::monitor
