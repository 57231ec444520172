#include "plan/logs.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

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
    fail(ExitCode::kBadData, fmt::format("the record has no '{}' above zero", key),
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

struct Line {
  int64_t number = 0;
  Json json;
};

std::vector<Line> read_lines(const std::filesystem::path& path) {
  std::istringstream stream(read_file(path));
  std::vector<Line> lines;
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
    lines.push_back({number, try_parse_json(line)});
    if (lines.back().json.is_object()) continue;
    if (stream.eof() || stream.peek() == EOF) {  // the process ended while writing
      lines.pop_back();
      break;
    }
    fail(ExitCode::kBadData, fmt::format("line {} is not a JSON object", number),
         "the log.jsonl of a run of hum train has one object per line");
  }
  return lines;
}

[[noreturn]] void fail_without_record() {
  fail(ExitCode::kBadData, "no run record, which describes the work of a step",
       "older logs lack it: run a few hundred steps of `hum train` to get a new log");
}

// The newest part, joined with earlier parts that ran the same program (a resumed run).
Part read_part(const std::filesystem::path& path) {
  std::vector<Part> parts;
  Json before;
  for (const auto& [number, line] : read_lines(path)) {
    if (line.contains("run")) {
      parts.push_back({line["run"], {}});
      before = nullptr;
    } else if (line.contains("step") && !parts.empty()) {
      if (!before.is_null()) parts.back().times.push_back(step_seconds(line, before));
      before = line;
    }
  }
  if (parts.empty()) fail_without_record();
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

struct StepLine {
  double step, seconds, processor_s;
};
// What one process of a training wrote.
struct Process {
  double first_step = 0;
  std::vector<StepLine> lines;

  double between(double StepLine::*figure) const {
    return lines.back().*figure - lines.front().*figure;
  }
};

void add_line(const Json& line, std::vector<Process>& processes, LoggedTraining& training) {
  if (const auto run = line.find("run"); run != line.end()) {
    const auto first = run->find("first_step");
    const bool is_new = first == run->end() || !first->is_number();  // an older log
    processes.push_back({.first_step = is_new ? 0 : first->get<double>()});
    training.hardware = text(*run, "hardware");
    training.is_on_cpu = training.is_on_cpu && text(*run, "platform") == "cpu";
  } else if (line.contains("step")) {
    if (processes.empty()) fail_without_record();
    const StepLine step{figure(line, "step"), figure(line, "seconds"), figure(line, "processor_s")};
    const auto& before = processes.back().lines;
    if (!before.empty() && step.seconds < before.back().seconds) {
      const double first_step = before.back().step;
      processes.push_back({first_step});
    }
    processes.back().lines.push_back(step);
  } else if (line.contains("sha256")) {
    training.sha256 = text(line, "sha256");
  }
}

void sum_up(const std::vector<Process>& processes, LoggedTraining& training) {
  double steps = 0, timed_steps = 0, seconds = 0, processor_s = 0;
  for (const Process& process : processes) {
    if (process.first_step == 0) training.steps += static_cast<int64_t>(std::exchange(steps, 0));
    if (process.lines.empty()) continue;
    const StepLine& last = process.lines.back();
    steps = last.step;
    training.seconds += last.seconds;
    training.processor_s += last.processor_s;
    timed_steps += process.between(&StepLine::step);
    seconds += process.between(&StepLine::seconds);
    processor_s += process.between(&StepLine::processor_s);
  }
  training.steps += static_cast<int64_t>(steps);
  if (timed_steps == 0) return;
  training.step_s = seconds / timed_steps;
  training.step_processor_s = processor_s / timed_steps;
  for (const Process& process : processes) {
    if (process.lines.empty()) continue;
    const StepLine& first = process.lines.front();
    const double steps_s = (first.step - process.first_step) * training.step_processor_s;
    training.start_processor_s += std::max(0.0, first.processor_s - steps_s);
  }
}

}  // namespace

LoggedTraining read_training(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  LoggedTraining training;
  std::vector<Process> processes;
  for (const Line& line : read_lines(path)) {
    const ErrorContext at([&] { return fmt::format("reading line {}", line.number); });
    add_line(line.json, processes, training);
  }
  if (processes.empty()) fail_without_record();
  training.processes = std::ssize(processes);
  sum_up(processes, training);
  return training;
}

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
