#include "app/training/model_step_reports.h"

#include <fmt/ranges.h>

#include <chrono>
#include <vector>

#include "app/session_options.h"
#include "app/training/model_step.h"
#include "base/bytes.h"
#include "base/elapsed.h"
#include "base/log.h"
#include "graph/passes/passes.h"
#include "graph/profile/profile.h"
#include "graph/stablehlo/print.h"
#include "kernels/table.h"
#include "train/compile_step.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

using Clock = std::chrono::steady_clock;

Json row_report(const graph::AuditRow& row) {
  return {{"op", row.op},     {"count", row.count},   {"verdict", graph::to_name(row.verdict)},
          {"what", row.what}, {"source", row.source}, {"where", row.where}};
}

std::string row_text(const Json& row) {
  const auto text = [&](const char* key) { return row[key].get<std::string>(); };
  std::string lines = fmt::format("{:<12}{:>6}  {:<34}{}\n", text("verdict"),
                                  row["count"].get<int64_t>(), text("op"), text("what"));
  if (text("verdict") == graph::to_name(graph::Verdict::kNative) && text("what").empty()) {
    return lines;
  }
  const auto where = row["where"].get<std::vector<std::string>>();
  lines += fmt::format("{:20}made at {}\n", "", fmt::join(where, ", "));
  if (!text("source").empty()) lines += fmt::format("{:20}source: {}\n", "", text("source"));
  return lines;
}

}  // namespace

Json size_report(const std::string& configuration, int64_t batch) {
  if (batch < 1) fail(ExitCode::kUsage, fmt::format("--batch {} is too small", batch), "--batch 1");
  const auto start = Clock::now();
  const auto step = read_model_step(configuration_path(configuration), batch);
  const auto traced = train::step_function(step.spec, step.loop.optimizer);
  const std::string program = graph::print_module(traced.function);
  const double seconds = seconds_since(start);
  const int64_t all = step.model->parameters().element_count();
  const int64_t core = step.model->core_parameters();
  return {{"model", configuration},
          {"core_parameters", core},
          {"conditioning_parameters", all - core},
          {"parameters", all},
          {"training_step_bytes", program.size()},
          {"seconds", seconds}};
}

std::string size_text(const Json& report) {
  const auto count = [&](const char* key) { return report[key].get<int64_t>(); };
  std::string parts;
  if (count("conditioning_parameters") > 0) {
    parts = fmt::format("{} parameters in the published model, {} in the conditioning, ",
                        count("core_parameters"), count("conditioning_parameters"));
  }
  return fmt::format("{}: {}{} {}\ntraining step: {} bytes of StableHLO, traced in {:.2f} s\n",
                     report["model"].get<std::string>(), parts, count("parameters"),
                     parts.empty() ? "parameters" : "in total", count("training_step_bytes"),
                     report["seconds"].get<double>());
}

Json platform_audit_report(const std::string& name, const std::string& platform) {
  const graph::Profile& profile = graph::profile_named(platform);
  const auto configuration = read_configuration(configuration_path(name));
  if (configuration.row->audit == models::PlatformAudit::kNone) {
    fail(ExitCode::kUsage, fmt::format("{} has nothing to audit", configuration.row->name),
         "hum audits the training steps of " + models::trained_models());
  }
  const ModelStep step = model_step(configuration);
  auto function =
      train::step_function(step.spec, step.loop.optimizer, step.loop.step_options().blocks)
          .function;
  function = graph::run_passes(function).function;
  const graph::Audit audit = graph::audit(function, profile, kernels::available);
  Json rows = Json::array();
  for (const auto& row : audit.rows) rows.push_back(row_report(row));
  return {{"program", function.name},
          {"platform", profile.name},
          {"supported", audit.is_supported()},
          {"ops", rows}};
}

std::string platform_audit_text(const Json& report) {
  std::string text;
  for (const Json& row : report["ops"]) text += row_text(row);
  return text + fmt::format("{} {} on {}\n", report["program"].get<std::string>(),
                            report["supported"].get<bool>() ? "can run" : "cannot run",
                            report["platform"].get<std::string>());
}

Json compile_report(const CompileStepOptions& options) {
  const auto start = Clock::now();
  ModelStep step = read_model_step(configuration_path(options.configuration), options.batch);
  if (!options.memory_limit.empty()) step.loop.memory_limit = options.memory_limit;
  const train::StepOptions step_options = step.loop.step_options();
  runtime::Session session(session_options());
  const auto traced = train::step_function(step.spec, step.loop.optimizer, step_options.blocks);
  const auto program =
      train::compile_step(session, step.spec, step.loop.optimizer, traced, step_options);
  const auto counters = session.counters();
  const auto estimate = session.estimate_memory(traced.function);
  const auto stats = program.memory_stats();
  return {{"program", traced.function.name},
          {"cached", counters.compiles == 0},
          {"seconds", seconds_since(start)},
          {"estimated_bytes", estimate.total_bytes()},
          {"memory_bytes", stats ? Json(stats->total_bytes()) : Json()}};
}

std::string compile_text(const Json& report) {
  const Json& memory = report["memory_bytes"];
  return fmt::format("{}: {} in {}; it needs {} ({} estimated from the graph)\n",
                     report["program"].get<std::string>(),
                     report["cached"].get<bool>() ? "was in the cache" : "compiled",
                     format_duration(report["seconds"].get<double>()),
                     memory.is_null() ? "an unknown amount" : format_bytes(memory.get<int64_t>()),
                     format_bytes(report["estimated_bytes"].get<int64_t>()));
}

}  // namespace hum::app
