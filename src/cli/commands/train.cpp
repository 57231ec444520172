// hum train: trains the model that a configuration names.
#include "app/training/train.h"

#include <cmath>
#include <iostream>

#include "base/log.h"
#include "base/names.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  std::string configuration, config;
  app::TrainOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("CONFIG", configuration,
                 "YAML configuration, or the name of one in configs/ (codec, codec-decoder, ...)",
                 /*required=*/false);
    v("config", config, "the same as CONFIG");
    v("run", options.run, "folder for checkpoints and log (default: the configuration's)");
    v("output", options.output, "weights folder to write (default: the configuration's)");
    v("init", options.init, "weights folder to start from, e.g. weights/");
    v("data", options.data, "folder of training items (default: the configuration's)");
    v("compute", options.compute,
      "type of activations: f32 or bf16 (default: the configuration's)");
    v("memory_limit", options.memory_limit,
      "refuse a step that needs more memory than this, e.g. 6GB");
    v("json", json, "print the result as JSON");
  }
};

// `hum train MODEL --config FILE`, the form of earlier releases for five models, means `hum train
// FILE` for a file of that model.
app::ModelConfiguration read_configuration(const Args& args) {
  const bool has_both = !args.configuration.empty() && !args.config.empty();
  const std::string& file = args.config.empty() ? args.configuration : args.config;
  if (file.empty()) {
    fail(ExitCode::kUsage,
         "hum train needs CONFIG, a YAML configuration or the name of one in configs/",
         "for example: hum train codec");
  }
  if (!has_both) return app::read_configuration(app::configuration_path(file));
  const auto* row = models::find_model(args.configuration);
  if (row == nullptr) {
    fail(ExitCode::kUsage,
         fmt::format("two configurations were given, '{}' and '{}'", args.configuration,
                     args.config),
         "give one: hum train CONFIG");
  }
  auto configuration = app::read_configuration(app::configuration_path(file), row->name);
  spdlog::info("hum train {} --config {} is now hum train {}", row->name, file, file);
  return configuration;
}

int run(Args& args) {
  const auto report = app::train(read_configuration(args), args.options);
  if (report.stop_signal != 0) return 128 + report.stop_signal;
  const Json& summary = report.summary;
  if (args.json) {
    print_json(summary);
    return 0;
  }
  const double loss = summary["loss"], validation = summary["validation_loss"];
  std::cout << fmt::format(
      "{}: {}, {}{}{}; weights in {}\n", summary["model"].get<std::string>(),
      counted(summary["steps"].get<int64_t>(), "step"),
      std::isfinite(loss) ? fmt::format("loss {:.4f}, ", loss) : "",
      std::isfinite(validation) ? fmt::format("validation {:.4f}, ", validation) : "",
      format_duration(summary["seconds"].get<double>()), summary["output"].get<std::string>());
  return 0;
}

}  // namespace

const Command kTrain = {"train", "train the model that a configuration names", "hum train codec",
                        make_command<Args, run>};

}  // namespace hum::cli
