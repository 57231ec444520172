#include "app/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "kernels/table.h"
#include "pjrt/ffi.h"

namespace hum::app {
namespace {

using monitor::Span;
using monitor::SpanKind;
using Spans = std::vector<const Span*>;

double seconds(monitor::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double total_seconds(const Spans& spans) {
  double total = 0;
  for (const Span* span : spans) total += seconds(span->end - span->begin);
  return total;
}

int64_t total_bytes(const Spans& spans) {
  int64_t total = 0;
  for (const Span* span : spans) total += span->bytes;
  return total;
}

std::map<std::string, Spans> by_name(const Spans& spans) {
  std::map<std::string, Spans> groups;
  for (const Span* span : spans) groups[span->name].push_back(span);
  return groups;
}

// Sorted by seconds, longest first.
std::vector<std::pair<std::string, Json>> by_seconds(const Json& table) {
  std::vector<std::pair<std::string, Json>> rows;
  for (const auto& [name, row] : table.items()) rows.emplace_back(name, row);
  std::ranges::stable_sort(rows, std::greater(), [](const auto& row) {
    return row.second["seconds"].template get<double>();
  });
  return rows;
}

constexpr std::string_view to_text(SpanKind kind) {
  constexpr std::string_view kTexts[] = {"program", "kernel", "compile", "load",
                                         "trace",   "upload", "download"};
  return kTexts[static_cast<size_t>(kind)];
}

void record_kernel(XLA_FFI_Handler* kernel, monitor::Clock::time_point begin,
                   monitor::Clock::time_point end) {
  static const auto kRows = kernels::table();
  const auto row = std::ranges::find(kRows, kernel, &pjrt::KernelRow::handler);
  monitor::record(SpanKind::kKernel, row == kRows.end() ? "(unknown)" : row->name, begin, end);
}

}  // namespace

Profile record_profile(const std::function<int()>& work) {
  Profile profile{.begin = monitor::Clock::now()};
  monitor::start_recording();
  pjrt::ffi::observe_kernels(record_kernel);
  profile.exit_code = work();
  pjrt::ffi::observe_kernels(nullptr);
  profile.spans = monitor::stop_recording();
  profile.end = monitor::Clock::now();
  return profile;
}

Json profile_report(const std::vector<Span>& spans, monitor::Clock::time_point begin,
                    monitor::Clock::time_point end) {
  std::map<SpanKind, Spans> kinds;
  Spans all;
  for (const Span& span : spans) {
    kinds[span.kind].push_back(&span);
    all.push_back(&span);
  }
  const Spans& kernels = kinds[SpanKind::kKernel];
  Json programs = Json::object(), kernel_rows = Json::object();
  for (const auto& [name, runs] : by_name(kinds[SpanKind::kProgram])) {
    double inside = 0;
    for (const Span* run : runs) inside += monitor::covered_seconds(kernels, run->begin, run->end);
    const double total = total_seconds(runs);
    programs[name] = {{"runs", runs.size()},
                      {"seconds", total},
                      {"kernel_seconds", inside},
                      {"xla_seconds", total - inside}};
  }
  for (const auto& [name, calls] : by_name(kernels)) {
    kernel_rows[name] = {{"calls", calls.size()}, {"seconds", total_seconds(calls)}};
  }
  const double wall = seconds(end - begin);
  return {{"seconds", wall},
          {"programs", programs},
          {"kernels", kernel_rows},
          {"trace_seconds", total_seconds(kinds[SpanKind::kTrace])},
          {"compile_seconds", total_seconds(kinds[SpanKind::kCompile])},
          {"load_seconds", total_seconds(kinds[SpanKind::kLoad])},
          {"upload_seconds", total_seconds(kinds[SpanKind::kUpload])},
          {"upload_bytes", total_bytes(kinds[SpanKind::kUpload])},
          {"download_seconds", total_seconds(kinds[SpanKind::kDownload])},
          {"download_bytes", total_bytes(kinds[SpanKind::kDownload])},
          {"host_seconds", wall - monitor::covered_seconds(all, begin, end)}};
}

std::string profile_text(const Json& report) {
  const double wall = report["seconds"];
  const auto share = [&](double value) { return 100 * value / std::max(wall, 1e-9); };
  std::string text = fmt::format("{:.2f} s in total\n\n{:<32}{:>8}{:>10}{:>7}{:>12}{:>8}\n", wall,
                                 "program", "runs", "seconds", "%", "in kernels", "XLA");
  for (const auto& [name, row] : by_seconds(report["programs"])) {
    text +=
        fmt::format("{:<32}{:>8}{:>10.3f}{:>7.1f}{:>12.3f}{:>8.3f}\n", name,
                    row["runs"].get<int64_t>(), row["seconds"].get<double>(), share(row["seconds"]),
                    row["kernel_seconds"].get<double>(), row["xla_seconds"].get<double>());
  }
  text +=
      fmt::format("\n{:<32}{:>8}{:>10}{:>7}{:>12}\n", "kernel", "calls", "seconds", "%", "ms/call");
  for (const auto& [name, row] : by_seconds(report["kernels"])) {
    const double total = row["seconds"];
    const auto calls = row["calls"].get<int64_t>();
    text += fmt::format("{:<32}{:>8}{:>10.3f}{:>7.1f}{:>12.3f}\n", name, calls, total, share(total),
                        1e3 * total / static_cast<double>(calls));
  }
  text += fmt::format("\n{:<32}{:>18}{:>7}\n", "outside programs", "seconds", "%");
  for (const auto& [label, key] : {std::pair{"tracing and passes", "trace_seconds"},
                                   {"compiling", "compile_seconds"},
                                   {"loading from the compile cache", "load_seconds"},
                                   {"host to device", "upload_seconds"},
                                   {"device to host", "download_seconds"},
                                   {"host", "host_seconds"}}) {
    text += fmt::format("{:<32}{:>18.3f}{:>7.1f}\n", label, report[key].get<double>(),
                        share(report[key]));
  }
  return text;
}

Json trace_events(const std::vector<Span>& spans, monitor::Clock::time_point begin) {
  Json events = Json::array();
  const auto microseconds = [](monitor::Clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  };
  for (const Span& span : spans) {
    events.push_back({{"name", span.name.empty() ? std::string(to_text(span.kind)) : span.name},
                      {"cat", to_text(span.kind)},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"ts", microseconds(span.begin - begin)},
                      {"dur", microseconds(span.end - span.begin)}});
  }
  return {{"traceEvents", events}};
}

}  // namespace hum::app
