#include "serve/api/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/exposition.h"

namespace hum::serve {
namespace {

void add_jobs(monitor::Exposition& text, const Metrics::State& state) {
  const Counts& counts = state.counts;
  text.family("hum_jobs", "gauge", "Jobs in the records by status.");
  text.value("status=\"queued\"", counts.queued);
  text.value("status=\"running\"", counts.running);
  text.value("status=\"done\"", counts.done);
  text.value("status=\"failed\"", counts.failed);
  text.family("hum_uploads", "gauge", "Uploads that have not expired.");
  text.value("", counts.uploads);
  text.family("hum_dead_letters", "gauge", "Jobs that hum gave up after several attempts.");
  text.value("", counts.dead_letters);
  const auto ready = std::ranges::count_if(state.workers, &WorkerInfo::is_ready);
  text.family("hum_workers", "gauge", "Workers that report, by whether their models are loaded.");
  text.value("state=\"ready\"", ready);
  text.value("state=\"loading\"", std::ssize(state.workers) - ready);
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
  const std::string method = exchange.route.empty() ? "any" : monitor::plain_label(exchange.method);
  ++requests_[{method, route, exchange.status}];
  durations_.try_emplace(route, kBuckets_s).first->second.add(exchange.seconds);
  received_bytes_ += exchange.received_bytes;
  sent_bytes_ += exchange.sent_bytes;
}

std::string Metrics::text(const State& state) const {
  monitor::Exposition text;
  add_jobs(text, state);
  const std::scoped_lock lock(mutex_);
  text.family("hum_http_requests_total", "counter", "Requests by method, route and status.");
  for (const auto& [labels, count] : requests_) {
    const auto& [method, route, status] = labels;
    text.value(fmt::format("method=\"{}\",route=\"{}\",status=\"{}\"", method, route, status),
               count);
  }
  text.family("hum_http_request_seconds", "histogram", "Time of requests by route.");
  for (const auto& [route, durations] : durations_) {
    text.value(fmt::format("route=\"{}\"", route), durations);
  }
  text.family("hum_http_received_bytes_total", "counter", "Bytes of the bodies of requests.");
  text.value("", received_bytes_);
  text.family("hum_http_sent_bytes_total", "counter", "Bytes of the bodies of responses.");
  text.value("", sent_bytes_);
  return std::move(text).take();
}

}  // namespace hum::serve
