// The report of `hum plan --model --cluster` as JSON and as text.
#include "app/plan/cluster_outlook.h"
#include "app/plan/prediction_report.h"
#include "base/bytes.h"
#include "eval/harness/bar.h"

namespace hum::app {

namespace {

Json layout_report(const plan::Layout& l) {
  return {{"tp", l.tp},
          {"pp", l.pp},
          {"dp", l.dp},
          {"micro_batch", l.micro_batch},
          {"micro_batches", l.micro_batches()},
          {"interleave", l.chunks()},
          {"recompute", to_name(l.recompute)},
          {"flash_attention", l.flash_attention},
          {"sequence_parallel", l.sequence_parallel},
          {"distributed_optimizer", l.distributed_optimizer},
          {"overlap_gradients", l.overlap_gradients}};
}

Json memory_report(const plan::Outlook& o) {
  return {{"weights", o.memory.weights},
          {"gradients", o.memory.gradients},
          {"optimizer", o.memory.optimizer},
          {"activations", o.memory.activations},
          {"logits", o.memory.logits},
          {"temporaries", o.memory.temporaries},
          {"collectives", o.memory.collectives},
          {"total", o.memory.total()},
          {"device", o.memory_limit}};
}

std::string bytes(const Json& value) {
  return format_bytes(static_cast<int64_t>(value.get<double>()));
}

std::string shares_text(const Json& parts, double total) {
  std::string text;
  for (const auto& [name, value] : parts.items()) {
    const double share = 100 * value.get<double>() / total;
    if (share >= 0.05) text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, share);
  }
  return text;
}

std::string money_text(const Json& r) {
  std::string text;
  if (r.contains("cost_per_million_tokens"))
    text += fmt::format("price       ${:.4f} per million tokens\n",
                        r["cost_per_million_tokens"].get<double>());
  if (!r.contains("days")) return text;
  text += fmt::format(
      "run         {:.1f} days{}", r["days"].get<double>(),
      r.contains("cost") ? fmt::format(", ${:.0f}", r["cost"].get<double>()) : ", no price known");
  if (r.contains("energy_kwh"))
    text += fmt::format(", at most {:.0f} kWh in the devices", r["energy_kwh"].get<double>());
  text += "\n";
  return text;
}

std::string layouts_text(const Json& layouts) {
  eval::TextTable table({"tp", "pp", "dp", "micro", "chunks", "recompute", "step s", "memory", ""});
  constexpr size_t kShown = 30;
  for (size_t i = 0; i < std::min(kShown, layouts["fitting"].size()); ++i) {
    const Json& c = layouts["fitting"][i];
    table.row({to_text(c["tp"]), to_text(c["pp"]), to_text(c["dp"]), to_text(c["micro_batch"]),
               to_text(c["interleave"]), c["recompute"].get<std::string>(),
               fmt::format("{:.3f}", c["step_s"].get<double>()), bytes(c["memory_bytes"]),
               c["pareto"].get<bool>() ? "*" : ""});
  }
  return table.text() +
         fmt::format(
             "{} of {} layouts fit (*: no other is faster and smaller); {} need more memory "
             "than a device has\n",
             layouts["fitting"].size(), layouts["tried"].get<int64_t>(),
             layouts["too_large"].get<int64_t>());
}

}  // namespace

Json outlook_report(const std::string& name, const plan::Transformer& model, const Cluster& cluster,
                    const plan::Outlook& o) {
  Json report = {{"model", name},
                 {"parameters", model.parameters()},
                 {"sequence", model.sequence},
                 {"hardware", cluster.device->name},
                 {"nodes", cluster.nodes},
                 {"devices", cluster.devices()},
                 {"software", cluster.device->stack.name},
                 {"global_batch", o.prediction.layout.global_batch},
                 {"layout", layout_report(o.prediction.layout)},
                 {"memory_bytes", memory_report(o)},
                 {"step_s", o.prediction.time.total()},
                 {"low_s", o.prediction.low_s},
                 {"high_s", o.prediction.high_s},
                 {"interval_probability", plan::kIntervalProbability},
                 {"outside", o.prediction.outside},
                 {"parts_s", step_parts(o.prediction.time)},
                 {"tokens_per_s", o.tokens_per_s},
                 {"mfu", o.mfu},
                 {"hfu", o.hfu},
                 {"checkpoint_bytes", o.checkpoint_bytes},
                 {"checkpoint_s", o.checkpoint_s},
                 {"checkpoint_every_s", o.checkpoint_every_s},
                 {"goodput", o.goodput}};
  if (o.cost_per_million_tokens > 0) report["cost_per_million_tokens"] = o.cost_per_million_tokens;
  if (o.days > 0) report["days"] = o.days;
  if (o.cost > 0) report["cost"] = o.cost;
  if (o.energy_kwh > 0) report["energy_kwh"] = o.energy_kwh;
  return report;
}

Json layouts_report(const plan::SearchResult& found) {
  const auto front = plan::pareto_front(found.fitting);
  Json fitting = Json::array();
  size_t next = 0;  // both are sorted by time
  for (const plan::Candidate& c : found.fitting) {
    Json row = layout_report(c.layout);
    row["step_s"] = c.seconds;
    row["memory_bytes"] = c.bytes;
    row["pareto"] = next < front.size() && front[next].bytes == c.bytes;
    if (row["pareto"].get<bool>()) ++next;
    fitting.push_back(row);
  }
  return {{"tried", found.tried}, {"too_large", found.too_large}, {"fitting", fitting}};
}

std::string outlook_text(const Json& r) {
  const Json &l = r["layout"], &m = r["memory_bytes"];
  const double step = r["step_s"];
  std::string text = fmt::format(
      "{}: {:.2f}B parameters, {} tokens per sequence, on {} x {} ({} devices, {})\n",
      r["model"].get<std::string>(), r["parameters"].get<double>() / 1e9,
      r["sequence"].get<int64_t>(), r["nodes"].get<int64_t>(), r["hardware"].get<std::string>(),
      r["devices"].get<int64_t>(), r["software"].get<std::string>());
  text += fmt::format(
      "layout      tp {} x pp {} x dp {}, micro-batch {} x {}, {} chunks per stage, "
      "recompute {}\n",
      l["tp"].get<int64_t>(), l["pp"].get<int64_t>(), l["dp"].get<int64_t>(),
      l["micro_batch"].get<int64_t>(), l["micro_batches"].get<int64_t>(),
      l["interleave"].get<int64_t>(), l["recompute"].get<std::string>());
  text += fmt::format(
      "memory      {} of {} per device: weights {}, gradients {}, optimizer {}, "
      "activations {}, logits {}, temporaries {}, collectives {}\n",
      bytes(m["total"]), bytes(m["device"]), bytes(m["weights"]), bytes(m["gradients"]),
      bytes(m["optimizer"]), bytes(m["activations"]), bytes(m["logits"]), bytes(m["temporaries"]),
      bytes(m["collectives"]));
  constexpr double kTight = 0.94;
  if (m["total"].get<double>() > kTight * m["device"].get<double>())
    text += "            tight: the allocator and the collectives library need part of the rest\n";
  text += fmt::format(
      "step        {:.3f} s ({:.3f} to {:.3f} in {:.0f} % of cases like the "
      "calibration's): {}\n",
      step, r["low_s"].get<double>(), r["high_s"].get<double>(),
      100 * r["interval_probability"].get<double>(), shares_text(r["parts_s"], step));
  for (const auto& what : r["outside"])
    text += "            outside the calibration: " + what.get<std::string>() + "\n";
  text += fmt::format(
      "speed       {:.0f} tokens/s, MFU {:.1f} % (FLOPs without recomputation), "
      "HFU {:.1f} % (with recomputation)\n",
      r["tokens_per_s"].get<double>(), 100 * r["mfu"].get<double>(), 100 * r["hfu"].get<double>());
  text += fmt::format("checkpoints {}, {:.0f} s each, best every {:.0f} s; goodput {:.1f} %\n",
                      bytes(r["checkpoint_bytes"]), r["checkpoint_s"].get<double>(),
                      r["checkpoint_every_s"].get<double>(), 100 * r["goodput"].get<double>());
  text += money_text(r);
  return r.contains("layouts") ? text + layouts_text(r["layouts"]) : text;
}

}  // namespace hum::app
