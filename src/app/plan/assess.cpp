#include "app/plan/assess.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/plan/comparison.h"
#include "app/plan/planned_step.h"
#include "app/plan/planner_files.h"
#include "app/training/model_step.h"
#include "base/error.h"
#include "base/files.h"
#include "data/synthesis/timing.h"
#include "graph/passes/passes.h"
#include "plan/named_models.h"

namespace hum::app {

namespace {

// Throws: kUsage when the model is not a transformer.
plan::Transformer shape_of(const ModelStep& step) {
  const auto language_model = step.model->language_model();
  if (!language_model) {
    fail(ExitCode::kUsage,
         fmt::format("the {} is not a transformer, so the planner cannot time it", step.row->name),
         fmt::format("hum audit {} --platform neuron lists its operators", step.row->name));
  }
  const nn::TransformerConfig& t = language_model->transformer;
  return {.hidden = t.width,
          .layers = t.layers,
          .heads = t.heads,
          .kv_heads = t.kv_heads,
          .ffn = t.feed_forward,
          .vocab = language_model->vocabulary,
          .sequence = data::kItemFrames,
          .gated = t.activation == nn::Activation::kSwiGlu,
          .tied_embeddings = false,
          .learned_positions = false};
}

graph::Function transformer_step(const plan::Transformer& shape) {
  const models::llama::Llama model(llama_of(shape));
  return train::step_function(
             model.train_spec({.frames = shape.sequence, .compute = graph::DType::kBF16}), {})
      .function;
}

graph::Function step_of(const ModelStep& step) {
  return train::step_function(step.spec, step.loop.optimizer, step.loop.step_options().blocks)
      .function;
}

Json option_report(const plan::Option& option) {
  const plan::Outlook& o = *option.outlook;
  Json report = {{"cluster", fmt::format("{}:{}", option.device->name, option.nodes)},
                 {"platform", option.device->platform},
                 {"devices", option.devices()},
                 {"memory_bytes", o.memory.total()},
                 {"memory_limit_bytes", o.memory_limit},
                 {"offers", Json::object()}};
  report.update(figures_report(o));
  for (const auto& offer : option.offers)
    report["offers"][std::string(to_name(offer.tariff))] = cost_report(offer, o.prediction);
  return report;
}

Json operators_report(const std::vector<plan::OperatorUse>& uses) {
  Json report = {{"groups", Json::object()}, {"rows", Json::array()}};
  for (const auto support :
       {plan::Support::kSupported, plan::Support::kNeedsChange, plan::Support::kUnsupported}) {
    int64_t kinds = 0, count = 0;
    double share = 0;
    for (const auto& use : uses) {
      if (use.support != support) continue;
      ++kinds;
      count += use.count;
      share += use.flops_share;
    }
    report["groups"][std::string(to_name(support))] = {
        {"kinds", kinds}, {"count", count}, {"flops_share", share}};
  }
  for (const auto& use : uses) {
    report["rows"].push_back({{"op", use.op},
                              {"support", to_name(use.support)},
                              {"rewritten", use.rewritten},
                              {"count", use.count},
                              {"flops_share", use.flops_share},
                              {"hint", use.hint},
                              {"source", use.source},
                              {"where", use.where}});
  }
  return report;
}

Json migration_report(const plan::Assessment& a, double home_cost) {
  Json report = {{"weeks", a.migration.weeks},
                 {"weeks_low", a.weeks_low},
                 {"weeks_high", a.weeks_high},
                 {"cost", a.migration.cost},
                 {"saving_per_run", a.migration.saving_per_run},
                 {"saving_percent", 100 * a.migration.saving_per_run / home_cost},
                 {"break_even_runs", nullptr},
                 {"break_even_tokens_per_s", a.break_even_tokens_per_s}};
  if (std::isfinite(a.migration.break_even_runs))
    report["break_even_runs"] = a.migration.break_even_runs;
  return report;
}

void require_page(const std::string& output) {
  if (output.empty()) return;
  const std::string ending = std::filesystem::path(output).extension();
  if (ending != ".html" && ending != ".md")
    fail(ExitCode::kUsage, fmt::format("{}: the page must be .html or .md", output),
         "--json prints the figures in machine-readable form");
  require_writable(output);
}

plan::Option option_of(const std::string& cluster_text, const plan::Transformer& shape,
                       const plan::Hardware& hardware, const plan::Market& market) {
  const Cluster cluster = parse_cluster(cluster_text, hardware);
  const auto calibration =
      plan::read_calibration(plan::calibration_path(cluster.device->calibrated_as()));
  return plan::consider(shape, *cluster.device, cluster.nodes, calibration, market);
}

}  // namespace

AssessedModel assessed_model(const std::string& name, int64_t sequence) {
  const auto file = names_hugging_face(name) ? std::nullopt : find_configuration(name);
  std::optional<ModelStep> configured;
  if (file) configured = read_model_step(*file);
  AssessedModel model;
  // If the name is both a configuration and a planner model, takes the planner's sequence.
  model.shape =
      configured && !plan::is_known_model(name) ? shape_of(*configured) : plan::named_model(name);
  model.shape = with_sequence(model.shape, sequence);
  plan::validate(model.shape);
  model.step =
      graph::run_passes(configured ? step_of(*configured) : transformer_step(model.shape)).function;
  return model;
}

Json assessment_report(const Assessed& assessed) {
  const plan::Assessment& a = assessed.assessment;
  Json report = {
      {"model", assessed.model},
      {"parameters", assessed.shape.parameters()},
      {"sequence", assessed.shape.sequence},
      {"tokens", assessed.market.run.tokens},
      {"global_batch", assessed.market.global_batch},
      {"interval_probability", plan::kIntervalProbability},
      {"verdict", {{"advice", to_name(a.verdict.advice)}, {"reasons", a.verdict.reasons}}},
      {"operators", operators_report(a.operators)},
      {"from", option_report(assessed.from)},
      {"to", option_report(assessed.to)},
      {"migration", migration_report(a, assessed.from.on_demand().cost)},
      {"thresholds", Json::array()},
      {"changes", Json::array()},
      {"risks", a.risks},
      {"stages", Json::array()}};
  for (const auto& t : a.thresholds)
    report["thresholds"].push_back(
        {{"what", t.what}, {"here", t.here}, {"at_most", to_name(t.at_most)}});
  for (const auto& change : a.changes)
    report["changes"].push_back({{"what", change.what}, {"how", change.how}});
  for (const auto& stage : a.stages)
    report["stages"].push_back({{"name", stage.name},
                                {"what", stage.what},
                                {"gate", stage.gate},
                                {"days", stage.days},
                                {"cost", stage.cost}});
  return report;
}

AssessedPage assess(const AssessOptions& options) {
  require_page(options.output);
  const plan::Hardware hardware = read_hardware(options.hardware_file);
  const AssessedModel model = assessed_model(options.model, options.seq);
  Assessed assessed{.model = options.model, .shape = model.shape, .market = options.market};
  assessed.from = option_of(options.from, model.shape, hardware, options.market);
  assessed.to = option_of(options.to, model.shape, hardware, options.market);
  assessed.assessment =
      plan::assess(model.step, assessed.from, assessed.to, options.market, options.situation);
  Json report = assessment_report(assessed);
  std::string page =
      options.output.ends_with(".html") ? assessment_page(report) : assessment_markdown(report);
  if (!options.output.empty()) write_file(options.output, page);
  return {std::move(report), std::move(page)};
}

}  // namespace hum::app
