#include "app/plan/extraction_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/bytes.h"
#include "base/error.h"
#include "data/synthesis/timing.h"
#include "plan/extraction.h"

namespace hum::app {
namespace {

constexpr double kMostNodes = 100'000;
constexpr const char* kExample = "hum plan extract --hours 1e6 --cluster c7a.48xlarge:16";

// The sound itself, as --keep-audio stores it: two channels of 16 bits.
constexpr double kKeptBytesPerSecond = 2 * 2 * data::kSampleRate;

void require_positive(const char* flag, double value) {
  if (value > 0 && std::isfinite(value)) return;
  fail(ExitCode::kUsage, fmt::format("{} {:g} is not above 0", flag, value), kExample);
}

void validate(const ExtractionPlanOptions& options) {
  if (options.hours == 0 && options.input_tb == 0) {
    fail(ExitCode::kUsage, "the size of the library is missing",
         "--hours of sound, or --input-tb of recordings at --kbps");
  }
  if (options.hours != 0 && options.input_tb != 0) {
    fail(ExitCode::kUsage, "--hours and --input-tb both state the size of the library",
         "give one of them");
  }
  require_positive("--kbps", options.kbps);
  if (options.hours != 0) require_positive("--hours", options.hours);
  if (options.input_tb != 0) require_positive("--input-tb", options.input_tb);
  if (options.days != 0) require_positive("--days", options.days);
  if (options.rate != 0) require_positive("--rate", options.rate);
}

struct Wish {
  std::string machine;
  int64_t count = 0;  // 0: as many as it takes
};

Wish parse_cluster(const ExtractionPlanOptions& options) {
  const std::string& text = options.cluster;
  const size_t colon = text.rfind(':');
  Wish wish{.machine = text.substr(0, colon)};
  if (colon != text.npos) {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, wish.count);
    if (parsed.ec != std::errc() || parsed.ptr != end) wish.count = -1;
  }
  const bool has_count = wish.count > 0 && static_cast<double>(wish.count) <= kMostNodes;
  if (wish.machine.empty() || (colon != text.npos && !has_count)) {
    fail(ExitCode::kUsage, fmt::format("'{}' is not a cluster", text),
         fmt::format("use machine:count with 1 to {:.0f} machines: {}", kMostNodes, kExample));
  }
  if (has_count == (options.days > 0)) {
    fail(ExitCode::kUsage,
         has_count ? "the cluster has a count, and --days asks for one"
                   : "how many machines is missing",
         "--cluster c7a.48xlarge:16, or --cluster c7a.48xlarge --days 14");
  }
  return wish;
}

plan::ExtractionWork work_of(const ExtractionPlanOptions& options,
                             const plan::ExtractionRate& rate) {
  const double input = options.kbps * 1000 / 8;
  return {.sound_hours = options.hours > 0 ? options.hours : options.input_tb * 1e12 / input / 3600,
          .input_bytes_per_sound_s = input,
          .output_bytes_per_sound_s =
              rate.bytes_per_sound_s.value + (options.keep_audio ? kKeptBytesPerSecond : 0),
          .sound_s_per_core_s = options.rate > 0 ? options.rate : rate.sound_s_per_core_s.value};
}

Json rate_report(const ExtractionPlanOptions& options, const plan::Figure& measured) {
  if (options.rate > 0) {
    return {{"sound_s_per_core_s", options.rate}, {"source", "--rate"}, {"date", nullptr}};
  }
  return {
      {"sound_s_per_core_s", measured.value}, {"source", measured.source}, {"date", measured.date}};
}

Json dollars(double value) { return value > 0 ? Json(value) : Json(); }

std::string count_text(double value) {
  if (value >= 1e6) return fmt::format("{:.3g} million", value / 1e6);
  return value >= 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string bytes_text(const Json& bytes) {
  return format_bytes(static_cast<int64_t>(bytes.get<double>()));
}

std::string dollars_text(const Json& dollars) {
  std::string text = fmt::format("${:.0f} on demand", dollars["on_demand"].get<double>());
  for (const char* kind : {"reserved", "spot"}) {
    if (!dollars[kind].is_null()) {
      text += fmt::format(", ${:.0f} {}", dollars[kind].get<double>(), kind);
    }
  }
  return text;
}

}  // namespace

Json extraction_plan(const ExtractionPlanOptions& options) {
  validate(options);
  const Wish wish = parse_cluster(options);
  const auto figures = plan::read_extraction_figures(options.machines.empty()
                                                         ? plan::extraction_figures_path()
                                                         : std::filesystem::path(options.machines));
  const plan::ExtractionNode& node = figures.at(wish.machine);
  const plan::ExtractionRate& rate = figures.rate;
  const double processes = std::ceil(node.cores.value / rate.threads_per_process.value);
  const double memory_gb = processes * rate.memory_gb_per_process.value;
  if (memory_gb > node.memory_gb.value) {
    fail(ExitCode::kUsage,
         fmt::format("{}: {:.0f} processes need {:.0f} GB, it has {:.0f}", node.name, processes,
                     memory_gb, node.memory_gb.value),
         "choose a machine with more memory for each core");
  }
  const plan::ExtractionWork work = work_of(options, rate);
  const auto plan = wish.count > 0 ? plan::plan_extraction(work, node, wish.count)
                                   : plan::plan_extraction_in(work, node, options.days);
  return {{"sound_hours", work.sound_hours},
          {"input_bytes", plan.input_bytes},
          {"output_bytes", plan.output_bytes},
          {"keeps_audio", options.keep_audio},
          {"rate", rate_report(options, rate.sound_s_per_core_s)},
          {"machine", node.name},
          {"machines", plan.nodes},
          {"cores", node.cores.value * static_cast<double>(plan.nodes)},
          {"processes_per_machine", processes},
          {"threads_per_process", rate.threads_per_process.value},
          {"memory_gb_per_machine", memory_gb},
          {"core_hours", plan.core_hours},
          {"days", plan.days},
          {"bound_by", plan.is_bound_by_network ? "network" : "processor"},
          {"machine_in_bytes_per_s", plan.node_in_bytes_per_s},
          {"machine_out_bytes_per_s", plan.node_out_bytes_per_s},
          {"dollars",
           {{"on_demand", dollars(plan.on_demand)},
            {"reserved", dollars(plan.reserved)},
            {"spot", dollars(plan.spot)}}}};
}

std::string extraction_plan_text(const Json& report) {
  const Json& rate = report["rate"];
  std::string source = rate["source"];
  if (!rate["date"].is_null()) source += ", " + rate["date"].get<std::string>();
  return fmt::format(
      "{} hours of sound, {}, on {} x {} ({:.0f} cores)\n"
      "rate      {:.3g} s of sound per core and second ({})\n"
      "work      {} core-hours: {:.0f} processes a machine with HUM_THREADS={:.0f}, {:.0f} GB\n"
      "time      {:.3g} days, bound by the {}\n"
      "money     {}\n"
      "features  {}{}\n"
      "network   {}/s into a machine, {}/s out of it\n",
      count_text(report["sound_hours"]), bytes_text(report["input_bytes"]),
      report["machines"].get<int64_t>(), report["machine"].get<std::string>(),
      report["cores"].get<double>(), rate["sound_s_per_core_s"].get<double>(), source,
      count_text(report["core_hours"]), report["processes_per_machine"].get<double>(),
      report["threads_per_process"].get<double>(), report["memory_gb_per_machine"].get<double>(),
      report["days"].get<double>(), report["bound_by"].get<std::string>(),
      dollars_text(report["dollars"]), bytes_text(report["output_bytes"]),
      report["keeps_audio"].get<bool>() ? " with the sound" : "",
      bytes_text(report["machine_in_bytes_per_s"]), bytes_text(report["machine_out_bytes_per_s"]));
}

}  // namespace hum::app
