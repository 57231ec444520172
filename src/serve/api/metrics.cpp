#include "serve/api/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hum::serve {
namespace {

// Builds the text, one family of metrics after another.
class Text {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  // labels: as {a="b"}, or empty; suffix: "_bucket", ...
  template <typename Number>
  void value(const std::string& labels, Number number, std::string_view suffix = "") {
    text_ += fmt::format("{}{}{} {}\n", name_, suffix, labels, number);
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string name_, text_;
};

// Methods and patterns of routes need no escapes, but a client chooses the method.
std::string plain(std::string_view label) {
  std::string result;
  for (const char c : label) {
    if (c != '"' && c != '\\' && c != '\n') result += c;
  }
  return result;
}

void add_jobs(Text& text, const Metrics::State& state) {
  const Counts& counts = state.counts;
  text.family("hum_jobs", "gauge", "Jobs in the records by status.");
  text.value("{status=\"queued\"}", counts.queued);
  text.value("{status=\"running\"}", counts.running);
  text.value("{status=\"done\"}", counts.done);
  text.value("{status=\"failed\"}", counts.failed);
  text.family("hum_uploads", "gauge", "Uploads that have not expired.");
  text.value("", counts.uploads);
  text.family("hum_dead_letters", "gauge", "Jobs that hum gave up after several attempts.");
  text.value("", counts.dead_letters);
  const auto ready = std::ranges::count_if(state.workers, &WorkerInfo::is_ready);
  text.family("hum_workers", "gauge", "Workers that report, by whether their models are loaded.");
  text.value("{state=\"ready\"}", ready);
  text.value("{state=\"loading\"}", std::ssize(state.workers) - ready);
  text.family("hum_http_connections", "gauge", "Open connections.");
  text.value("", state.connections);
  text.family("hum_followed_jobs", "gauge", "Jobs with an event stream.");
  text.value("", state.followed_jobs);
}

}  // namespace

void Metrics::count(const Exchange& exchange) {
  const std::scoped_lock lock(mutex_);
  // Unknown methods and paths would make endless rows.
  const std::string route = exchange.route.empty() ? "none" : exchange.route;
  const std::string method = exchange.route.empty() ? "any" : plain(exchange.method);
  ++requests_[{method, route, exchange.status}];
  Durations& durations = durations_[route];
  const auto bucket = std::ranges::lower_bound(kBuckets_s, exchange.seconds) - kBuckets_s.begin();
  ++durations.counts[static_cast<size_t>(bucket)];
  durations.sum_s += exchange.seconds;
  received_bytes_ += exchange.received_bytes;
  sent_bytes_ += exchange.sent_bytes;
}

std::string Metrics::text(const State& state) const {
  Text text;
  add_jobs(text, state);
  const std::scoped_lock lock(mutex_);
  text.family("hum_http_requests_total", "counter", "Requests by method, route and status.");
  for (const auto& [labels, count] : requests_) {
    const auto& [method, route, status] = labels;
    text.value(fmt::format("{{method=\"{}\",route=\"{}\",status=\"{}\"}}", method, route, status),
               count);
  }
  text.family("hum_http_request_seconds", "histogram", "Time of requests by route.");
  for (const auto& [route, durations] : durations_) {
    int64_t count = 0;
    for (size_t i = 0; i < durations.counts.size(); ++i) {
      count += durations.counts[i];
      const std::string end = i < kBuckets_s.size() ? fmt::format("{}", kBuckets_s[i]) : "+Inf";
      text.value(fmt::format("{{route=\"{}\",le=\"{}\"}}", route, end), count, "_bucket");
    }
    text.value(fmt::format("{{route=\"{}\"}}", route), durations.sum_s, "_sum");
    text.value(fmt::format("{{route=\"{}\"}}", route), count, "_count");
  }
  text.family("hum_http_received_bytes_total", "counter", "Bytes of the bodies of requests.");
  text.value("", received_bytes_);
  text.family("hum_http_sent_bytes_total", "counter", "Bytes of the bodies of responses.");
  text.value("", sent_bytes_);
  return std::move(text).take();
}

}  // namespace hum::serve
