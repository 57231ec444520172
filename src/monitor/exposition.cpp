#include "monitor/exposition.h"

#include <algorithm>

namespace hum::monitor {

void Durations::add(double seconds) {
  const auto bucket = std::ranges::lower_bound(ends_s_, seconds) - ends_s_.begin();
  ++counts_[static_cast<size_t>(bucket)];
  sum_s_ += seconds;
}

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void Exposition::value(const std::string& labels, const Durations& durations) {
  const std::string more = labels.empty() ? "" : labels + ",";
  int64_t count = 0;
  for (size_t i = 0; i < durations.counts_.size(); ++i) {
    count += durations.counts_[i];
    const auto& ends_s = durations.ends_s_;
    const std::string end = i < ends_s.size() ? fmt::format("{}", ends_s[i]) : "+Inf";
    value(fmt::format("{}le=\"{}\"", more, end), count, "_bucket");
  }
  value(labels, durations.sum_s_, "_sum");
  value(labels, count, "_count");
}

std::string plain_label(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '"' && c != '\\' && c != '\n') result += c;
  }
  return result;
}

}  // namespace hum::monitor
