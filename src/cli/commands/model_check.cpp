// hum model check: counts a model's parameters and traces its training step from shapes alone; or
// opens every model of a folder of weights.
#include <chrono>
#include <filesystem>
#include <iostream>

#include "app/session_options.h"
#include "app/training/model_step.h"
#include "app/weights_check.h"
#include "cli/commands/commands.h"
#include "graph/stablehlo/print.h"
#include "train/training_step.h"

namespace hum::cli {
namespace {

struct Args {
  std::string name;
  int64_t batch = 1;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("name", name,
                 models::trained_models() +
                     ", tiny, 385m, 10b, a YAML configuration, or a folder of weights");
    v("batch", batch, "items in the traced step");
    v("json", json, "print the result as JSON");
  }
};

int check_folder(const Args& args) {
  runtime::Session session(app::session_options());
  Json report = Json::array();
  for (const auto& checked : app::check_weights(session, args.name)) {
    if (!args.json) {
      std::cout << fmt::format("{:<12}{:>12} parameters  sha256 {}\n", checked.model,
                               checked.parameters, checked.sha256);
    }
    report.push_back(
        {{"model", checked.model}, {"parameters", checked.parameters}, {"sha256", checked.sha256}});
  }
  if (args.json) print_json(report);
  return 0;
}

std::string text_of(const Json& report) {
  const auto count = [&](const char* key) { return report[key].get<int64_t>(); };
  std::string parts;
  if (count("conditioning_parameters") > 0) {
    parts = fmt::format("{} parameters in the published model, {} in the conditioning, ",
                        count("core_parameters"), count("conditioning_parameters"));
  }
  return fmt::format("{}: {}{} {}\ntraining step: {} bytes of StableHLO, traced in {:.2f} s\n",
                     report["model"].get<std::string>(), parts, count("parameters"),
                     parts.empty() ? "parameters" : "in all", count("training_step_bytes"),
                     report["seconds"].get<double>());
}

int run(Args& args) {
  if (std::filesystem::is_directory(args.name)) return check_folder(args);
  const auto start = std::chrono::steady_clock::now();
  const auto step = app::read_model_step(app::configuration_path(args.name), args.batch);
  const auto traced = train::step_function(step.spec, step.loop.optimizer);
  const std::string text = graph::print_module(traced.function);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int64_t all = step.model->parameters().element_count();
  const int64_t core = step.model->core_parameters();
  const Json report = {{"model", args.name},
                       {"core_parameters", core},
                       {"conditioning_parameters", all - core},
                       {"parameters", all},
                       {"training_step_bytes", text.size()},
                       {"seconds", seconds}};
  if (args.json) {
    print_json(report);
  } else {
    std::cout << text_of(report);
  }
  return 0;
}

}  // namespace

const Command kModelCheck = {"model check", "count a model's parameters and check its shapes",
                             "hum model check 10b", make_command<Args, run>};

}  // namespace hum::cli
