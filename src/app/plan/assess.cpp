#include "app/plan/assess.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "app/plan/compare.h"
#include "app/plan/planned_step.h"
#include "app/training/model_step.h"
#include "app/training/stage.h"
#include "base/error.h"
#include "graph/passes/passes.h"
#include "models/humming/config.h"
#include "plan/named_models.h"

namespace hum::app {

namespace {

plan::Transformer coarse_shape(const std::filesystem::path& path) {
  TrainConfig<models::humming::CoarseConfig> config;
  read_config(path, config);
  const nn::TransformerConfig& t = config.model.transformer;
  return {.hidden = t.width,
          .layers = t.layers,
          .heads = t.heads,
          .kv_heads = t.kv_heads,
          .ffn = t.feed_forward,
          .vocab = config.model.vocabulary,
          .sequence = data::kItemFrames,
          .gated = t.activation == nn::Activation::kSwiGlu,
          .tied_embeddings = false,
          .learned_positions = false};
}

graph::Function transformer_step(const plan::Transformer& shape) {
  const models::llama::Llama model(llama_of(shape));
  return train::step_function(model.train_spec(1, shape.sequence, graph::DType::kBF16), {})
      .function;
}

graph::Function configured_step(const std::filesystem::path& path) {
  const ModelStep step = read_model_step(path);
  return train::step_function(step.spec, step.loop.optimizer, step.loop.step_options().blocks)
      .function;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
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

}  // namespace

AssessedModel assessed_model(const std::string& name, int64_t sequence) {
  if (is_one_of(name, {"codec", "voice", "upsampler", "classifier", "codec-decoder"})) {
    fail(ExitCode::kUsage,
         fmt::format("the {} is no transformer: the planner cannot time it", name),
         fmt::format("hum audit {} --platform neuron lists its operators", name));
  }
  const bool is_coarse = is_one_of(name, {"coarse", "tiny"}) || name.ends_with(".yaml");
  const bool is_published = is_one_of(name, {"385m", "10b"});
  AssessedModel model;
  model.shape = is_coarse ? coarse_shape(model_config_path(name)) : plan::named_model(name);
  if (sequence != 0) model.shape.sequence = sequence;
  plan::validate(model.shape);
  const graph::Function step = is_coarse || is_published ? configured_step(model_config_path(name))
                                                         : transformer_step(model.shape);
  model.step = graph::run_passes(step).function;
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

}  // namespace hum::app
