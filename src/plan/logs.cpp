#include "plan/logs.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/quantile.h"

namespace hum::plan {

namespace {

constexpr size_t kFewestTimes = 2;

// The part of a log written by one process: its head, and the seconds per step of all but its first
// line.
struct Part {
  Json head;
  std::vector<double> times;
};

double figure(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number() || !(found->get<double>() > 0)) {
    fail(ExitCode::kBadData, fmt::format("the run record has no '{}' above zero", key),
         "hum train writes it (docs/formats/training-log.md)");
  }
  return found->get<double>();
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string() || found->get<std::string>().empty())
    fail(ExitCode::kBadData, fmt::format("the run record has no '{}'", key));
  return found->get<std::string>();
}

// The line's own, or the mean since the line before, checkpoints included.
double step_seconds(const Json& line, const Json& before) {
  if (line.contains("step_s")) return figure(line, "step_s");
  return (figure(line, "seconds") - figure(before, "seconds")) /
         (figure(line, "step") - figure(before, "step"));
}

std::vector<Json> read_lines(const std::filesystem::path& path) {
  std::istringstream stream(read_file(path));
  std::vector<Json> lines;
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
    lines.push_back(try_parse_json(line));
    if (lines.back().is_object()) continue;
    if (stream.eof() || stream.peek() == EOF) {  // the process ended while writing
      lines.pop_back();
      break;
    }
    fail(ExitCode::kBadData, fmt::format("line {} is not a JSON object", number),
         "the log.jsonl of a run of hum train has one object per line");
  }
  return lines;
}

// The newest part, joined with earlier parts that ran the same program (a resumed run).
Part read_part(const std::filesystem::path& path) {
  std::vector<Part> parts;
  Json before;
  for (const Json& line : read_lines(path)) {
    if (line.contains("run")) {
      parts.push_back({line["run"], {}});
      before = nullptr;
    } else if (line.contains("step") && !parts.empty()) {
      if (!before.is_null()) parts.back().times.push_back(step_seconds(line, before));
      before = line;
    }
  }
  if (parts.empty()) {
    fail(ExitCode::kBadData, "no run record, which describes the work of a step",
         "older logs lack it: run a few hundred steps of `hum train` to get a new log");
  }
  Part newest = parts.back();
  const auto same = [&](const char* key, const Part& part) {
    return part.head.value(key, Json()) == newest.head.value(key, Json());
  };
  parts.pop_back();
  for (const Part& part : parts) {
    if (same("product_flops", part) && same("bytes", part) && same("hardware", part))
      newest.times.insert(newest.times.end(), part.times.begin(), part.times.end());
  }
  return newest;
}

const Device& device_of(const Json& head, const Hardware& hardware, const std::string& named) {
  if (!named.empty()) return hardware.at(named);
  const std::string ran_on = text(head, "hardware");
  if (const Device* device = hardware.named_in(ran_on)) return *device;
  fail(ExitCode::kBadData, fmt::format("the run was on '{}', which is unknown hardware", ran_on),
       "describe it in a file for --hardware-file and name it with --hardware "
       "(docs/cli/plan.md)");
}

Run run_of(const Part& part, const std::string& name) {
  const Json& head = part.head;
  if (figure(head, "devices") != 1)
    fail(ExitCode::kBadData, "a run on several devices, but a log counts the work of one",
         "enter it in a CSV with its mesh (docs/formats/runs.md)");
  Run run{.name = name};
  run.work = CountedWork{.model = text(head, "model"),
                         .parameters = figure(head, "parameters"),
                         .product_flops = figure(head, "product_flops"),
                         .bytes = figure(head, "bytes")};
  run.layout.global_batch = run.layout.micro_batch = static_cast<int64_t>(figure(head, "batch"));
  return run;
}

void add_times(Campaign& campaign, Run& run, std::vector<double> times, const Device& device) {
  if (times.size() < kFewestTimes) {
    fail(ExitCode::kBadData,
         fmt::format("only {} step times; the first log line of a process does not count",
                     times.size()),
         "train longer, or reduce loop.log_every");
  }
  std::ranges::sort(times);
  run.measured_s = quantile(times, 0.5);
  const double tflops = run.work->product_flops / run.measured_s / 1e12;
  if (tflops > device.peak_tflops.value) {
    fail(ExitCode::kBadData,
         fmt::format("{:.3g} TFLOP/s, more than the {:.3g} a {} has at its peak", tflops,
                     device.peak_tflops.value, device.name),
         "wrong hardware (--hardware)? Or its peak is too low");
  }
  campaign.assumptions.push_back(fmt::format(
      "{}: {}, {:.4g} s per step, the median of {} times (quartiles {:.4g} and {:.4g})", run.name,
      run.work->model, run.measured_s, times.size(), quantile(times, 0.25), quantile(times, 0.75)));
}

}  // namespace

bool is_log(const std::filesystem::path& path) { return path.extension() == ".jsonl"; }

std::string short_name(const std::filesystem::path& path) {
  const auto parent = std::filesystem::absolute(path).parent_path().filename();
  return path.filename() == "log.jsonl" ? (parent / path.filename()).string()
                                        : path.filename().string();
}

Campaign read_logs(std::span<const std::filesystem::path> paths, const Hardware& hardware,
                   const std::string& named) {
  Campaign campaign{.name = paths.size() == 1 ? short_name(paths[0]) : "logs"};
  std::string first;
  for (const auto& path : paths) {
    const ErrorContext context([&] { return "reading " + path.string(); });
    const Part part = read_part(path);
    const Device& device = device_of(part.head, hardware, named);
    const std::string ran_on = part.head.value("hardware", "");
    if (campaign.device.empty()) {
      campaign.device = device.name;
      first = ran_on;
    } else if (device.name != campaign.device || ran_on != first) {
      fail(ExitCode::kBadData,
           fmt::format("this run was on '{}', the first on '{}'", ran_on, first),
           "a calibration covers one hardware");
    }
    Run run = run_of(part, short_name(path));
    add_times(campaign, run, part.times, device);
    campaign.runs.push_back(std::move(run));
  }
  return campaign;
}

}  // namespace hum::plan
