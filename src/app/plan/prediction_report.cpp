#include "app/plan/prediction_report.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/fields_json.h"
#include "eval/harness/bar.h"

namespace hum::app {

namespace {

Json row_report(const plan::Run& run, const plan::Prediction& prediction) {
  const double seconds = prediction.time.total();
  Json row = {{"name", run.name},
              {"predicted_s", seconds},
              {"low_s", prediction.low_s},
              {"high_s", prediction.high_s},
              {"micro_batch", prediction.layout.micro_batch},
              {"interleave", prediction.layout.chunks()},
              {"recompute", to_name(prediction.layout.recompute)},
              {"parts_s", step_parts(prediction.time)}};
  if (run.measured_s > 0) {
    row["measured_s"] = run.measured_s;
    row["error_percent"] = 100 * (seconds / run.measured_s - 1);
  }
  if (!prediction.outside.empty()) row["outside"] = prediction.outside;
  return row;
}

std::string percent(double value) { return fmt::format("{:.1f}", value); }

}  // namespace

Json step_parts(const plan::StepTime& time) {
  return {{"compute", time.compute},
          {"host", time.host},
          {"tensor_parallel", time.tensor_parallel},
          {"pipeline", time.pipeline},
          {"bubble", time.bubble},
          {"gradients", time.gradients},
          {"optimizer", time.optimizer}};
}

Json predictions_report(const plan::Campaign& campaign, const plan::Device& device,
                        const plan::Calibration& calibration) {
  Json rows = Json::array();
  std::vector<double> predicted, measured;
  for (const plan::Run& run : campaign.runs) {
    const plan::Prediction prediction = plan::predict(run, device, calibration);
    rows.push_back(row_report(run, prediction));
    if (run.measured_s <= 0) continue;
    predicted.push_back(prediction.time.total());
    measured.push_back(run.measured_s);
  }
  plan::Score summary = plan::score(predicted, measured);
  return {{"file", campaign.name},
          {"hardware", campaign.device},
          {"assumptions", campaign.assumptions},
          {"interval_probability", plan::kIntervalProbability},
          {"rows", rows},
          {"summary", to_json(summary)}};
}

std::string predictions_text(const Json& report) {
  std::string text;
  for (const auto& note : report["assumptions"])
    text += "assumed " + note.get<std::string>() + "\n";
  eval::TextTable table({"run", "predicted s", "interval s", "measured s", "error %"});
  std::string outside;
  for (const auto& row : report["rows"]) {
    const std::string name = row["name"];
    const bool known = row.contains("measured_s");
    table.row(
        {name, fmt::format("{:.3f}", row["predicted_s"].get<double>()),
         fmt::format("{:.3f} to {:.3f}", row["low_s"].get<double>(), row["high_s"].get<double>()),
         known ? fmt::format("{:.3f}", row["measured_s"].get<double>()) : "",
         known ? fmt::format("{:+.1f}", row["error_percent"].get<double>()) : ""});
    if (!row.contains("outside")) continue;
    for (const auto& what : row["outside"])
      outside += fmt::format("{}: outside the calibration: {}\n", name, what.get<std::string>());
  }
  const Json& s = report["summary"];
  text += table.text() + outside;
  text += fmt::format("intervals cover {:.0f} % of cases like the calibration's\n",
                      100 * report["interval_probability"].get<double>());
  if (s["rows"] == 0) return text;
  return text + fmt::format(
                    "{} measured: mean error {:.1f} %, worst {:.1f} %, bias {:+.1f} %, rank "
                    "correlation {:.3f}\n",
                    s["rows"].get<int64_t>(), s["mape_percent"].get<double>(),
                    s["worst_percent"].get<double>(), s["bias_percent"].get<double>(),
                    s["rank_correlation"].get<double>());
}

std::string calibration_text(const plan::Calibration& calibration) {
  const plan::Efficiency& e = calibration.efficiency;
  std::string text = fmt::format(
      "{}: products at {:.1f} % of the peak, memory {:.1f} %, links {:.1f} %, network {:.1f} % of "
      "their bandwidth, {:.2f} ms to launch a block, {:.0f} us of waiting per collective\n",
      calibration.device, 100 * e.gemm, 100 * e.memory, 100 * e.link, 100 * e.network,
      e.host_ms_per_layer, e.sync_us);
  eval::TextTable table({"file", "runs", "error %", "model left out %", "bias %", "worst %"});
  for (const auto& file : calibration.files) {
    const auto& held = file.leave_one_model_out;
    table.row({file.name, std::to_string(held.rows), percent(file.in_sample.mape_percent),
               percent(held.mape_percent), percent(held.bias_percent),
               percent(held.worst_percent)});
  }
  text += table.text();
  for (const auto& note : calibration.notes) text += note + "\n";
  if (!calibration.borrowed.empty()) {
    text += fmt::format(
        "these runs do not determine {}: taken from {}; plans that depend on them have intervals "
        "twice as wide\n",
        fmt::join(calibration.borrowed, ", "), calibration.lender);
  }
  const double within = 100 * (std::exp(calibration.interval_log) - 1);
  if (calibration.interval_assumed) {
    return text + fmt::format(
                      "{} models: too few runs to measure the interval of predictions; "
                      "assuming a factor of {:.2g} (needs runs of four models)\n",
                      calibration.models, std::exp(calibration.interval_log));
  }
  return text + fmt::format(
                    "{} models; {:.0f} % of predictions within {:.1f} % (tables above: mean "
                    "absolute errors, fitted with and without the model's runs)\n",
                    calibration.models, 100 * plan::kIntervalProbability, within);
}

}  // namespace hum::app
