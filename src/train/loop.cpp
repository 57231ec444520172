#include "train/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <future>
#include <span>

#include "base/bytes.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner_lock.h"
#include "base/quantile.h"
#include "train/checkpoint.h"
#include "train/run_record.h"

namespace hum::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostBatchesAhead = 256;  // each has a thread

// Averages the step's scalars since the last log line; writes one JSON line and the progress line.
class Reporter {
 public:
  Reporter(const nn::TrainSpec& spec, const std::vector<std::string>& names,
           const LoopConfig& config, const std::filesystem::path& run, const Json& head)
      : spec_(spec),
        names_(names),
        config_(config),
        sums_(names.size()),
        log_(run / "log.jsonl", std::ios::app),
        progress_("train " + spec.name, config.steps) {
    if (!log_) {
      fail(ExitCode::kCannotCreate, (run / "log.jsonl").string() + ": cannot append",
           "check that the run folder is writable");
    }
    log_ << to_text(head) << std::endl;
  }

  // step_s: duration of the step, without the wait for its batch.
  void add(int64_t step, const Trainer::Result& result, double step_s) {
    steps_s_.push_back(step_s);
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(result.scalars[i]);
    ++count_;
    if (count_ >= config_.log_every || step + 1 == config_.steps) flush(step, result.learning_rate);
    const double rate =
        spec_.units_per_batch * static_cast<double>(++done_) / seconds_since(start_);
    const std::string validation =
        std::isfinite(validation_loss_) ? fmt::format(", validation {:.4f}", validation_loss_) : "";
    progress_.update(step + 1, fmt::format("loss {:.4f}{}, {:.0f} {}/s", result.scalars[0],
                                           validation, rate, spec_.unit));
  }
  // step: number of steps done.
  void add_validation(int64_t step, const Validation::Means& validation, double seconds) {
    Json line = {{"step", step}, {"seconds", seconds}};
    for (const auto& [name, mean] : validation) line[name] = mean;
    log_ << to_text({{"validation", line}}) << std::endl;
    validation_loss_ = validation.at(0).second;
  }
  double last_loss() const { return last_loss_; }
  double validation_loss() const { return validation_loss_; }

 private:
  void flush(int64_t step, double learning_rate) {
    const double interval_s = seconds_since(interval_);
    Json line = {{"step", step + 1}};
    for (size_t i = 0; i < sums_.size(); ++i) {
      line[names_[i]] = sums_[i] / static_cast<double>(count_);
      sums_[i] = 0;
    }
    last_loss_ = line[names_[0]].get<double>();
    line["learning_rate"] = learning_rate;
    line["units_per_s"] = spec_.units_per_batch * static_cast<double>(count_) / interval_s;
    line["step_s"] = median(std::move(steps_s_));
    line["seconds"] = seconds_since(start_);
    line["processor_s"] = processor_seconds();
    log_ << to_text(line) << std::endl;
    steps_s_.clear();
    count_ = 0;
    interval_ = Clock::now();
  }

  const nn::TrainSpec& spec_;
  const std::vector<std::string>& names_;
  const LoopConfig& config_;
  std::vector<double> sums_, steps_s_;
  int64_t count_ = 0, done_ = 0;
  double last_loss_ = std::numeric_limits<double>::quiet_NaN(), validation_loss_ = last_loss_;
  std::ofstream log_;
  Progress progress_;
  Clock::time_point start_ = Clock::now(), interval_ = start_;
};

// The batches of the steps from `first` on, made in the background: at most `ahead` at a time.
class BatchQueue {
 public:
  using Batch = std::vector<runtime::HostTensor>;

  BatchQueue(const BatchSource& source, int64_t first, int64_t steps, int64_t ahead)
      : source_(source), next_(first), steps_(steps) {
    while (std::ssize(queue_) < ahead && next_ < steps_) begin_next();
  }
  // Of the next step. Throws what the source throws.
  Batch take() {
    Batch batch = queue_.front().get();
    queue_.pop_front();
    if (next_ < steps_) begin_next();
    return batch;
  }

 private:
  void begin_next() {
    queue_.push_back(
        std::async(std::launch::async, [this, step = next_] { return source_(step); }));
    ++next_;
  }

  const BatchSource& source_;
  int64_t next_, steps_;
  std::deque<std::future<Batch>> queue_;  // the destructor of each waits
};

// The first step of the run: from its newest checkpoint, or 0 for a new run.
int64_t start_or_resume(Trainer& trainer, const LoopOptions& options) {
  if (auto checkpoint = latest_checkpoint(options.run)) {
    if (checkpoint->config != options.config) {
      fail(ExitCode::kConfig, options.run.string() + ": the run has another configuration",
           "use another --run folder, or the configuration in its state.json");
    }
    trainer.load(checkpoint->state, /*whole=*/true);
    spdlog::info("resuming {} at step {}", options.run.string(), checkpoint->step);
    return checkpoint->step;
  }
  if (!options.initial.empty()) trainer.load(options.initial, /*whole=*/false);
  return 0;
}

// Checks loss and gradient norm, because the gradient of a finite loss may not be finite.
void require_finite(const Trainer& trainer, int64_t step, std::span<const float> scalars) {
  for (size_t i = 0; i < 2; ++i) {
    if (std::isfinite(scalars[i])) continue;
    fail(ExitCode::kFailure,
         fmt::format("{} at step {} is {}", trainer.scalar_names()[i], step, scalars[i]),
         "use another --run folder with a lower optimizer.learning_rate or another seed");
  }
}

// How many of the held-out batches a run validates on.
int64_t validation_batches(const LoopConfig& config, const HeldOut& held_out) {
  return config.validate_every > 0 ? std::min(config.validation_batches, held_out.count) : 0;
}

bool is_validated(const LoopConfig& config, int64_t steps_done) {
  return steps_done % config.validate_every == 0 || steps_done == config.steps;
}

void require(const char* name, double value, bool holds, const char* hint) {
  if (holds) return;  // false for NaN, too
  fail(ExitCode::kConfig, fmt::format("loop.{} = {} is out of range", name, value), hint);
}

void validate_optimizer(const OptimizerConfig& o) {
  const auto finite = [](double value) { return std::isfinite(value) && value >= 0; };
  require("optimizer.learning_rate", o.learning_rate, finite(o.learning_rate),
          "use a number above 0, for example 5e-4");
  require("optimizer.final_learning_rate", o.final_learning_rate, finite(o.final_learning_rate),
          "use a number from 0 to the learning rate");
  require("optimizer.warm_up_steps", static_cast<double>(o.warm_up_steps), o.warm_up_steps >= 0,
          "use 0 for none");
  require("optimizer.beta1", o.beta1, o.beta1 >= 0 && o.beta1 < 1, "use 0 or more, below 1");
  require("optimizer.beta2", o.beta2, o.beta2 >= 0 && o.beta2 < 1, "use 0 or more, below 1");
  require("optimizer.epsilon", o.epsilon, finite(o.epsilon) && o.epsilon > 0, "use 1e-8");
  require("optimizer.weight_decay", o.weight_decay, finite(o.weight_decay), "use 0 for none");
  require("optimizer.clip_norm", o.clip_norm, finite(o.clip_norm), "use 0 for no clipping");
  require("optimizer.decay_share", o.decay_share, o.decay_share >= 0 && o.decay_share <= 1,
          "use a share of the steps, for example 0.2");
  require("optimizer.ema", o.ema, o.ema >= 0 && o.ema < 1, "use 0 for none, or 0.999");
  require("optimizer.muon.momentum", o.muon.momentum, o.muon.momentum >= 0 && o.muon.momentum < 1,
          "use 0 or more, below 1");
  require("optimizer.muon.rate", o.muon.rate, finite(o.muon.rate), "use 1 for the learning rate");
}

}  // namespace

void validate(const LoopConfig& config) {
  const std::pair<const char*, int64_t> counts[] = {{"steps", config.steps},
                                                    {"checkpoint_every", config.checkpoint_every},
                                                    {"log_every", config.log_every}};
  for (const auto& [name, steps] : counts) {
    require(name, static_cast<double>(steps), steps >= 1, "use a number of steps, 1 or more");
  }
  require("batches_ahead", static_cast<double>(config.batches_ahead),
          config.batches_ahead >= 1 && config.batches_ahead <= kMostBatchesAhead,
          "use a number of batches from 1 to 256, for example 16");
  require("validate_every", static_cast<double>(config.validate_every), config.validate_every >= 0,
          "use a number of steps, or 0 for never");
  require("validation_batches", static_cast<double>(config.validation_batches),
          config.validation_batches >= 1, "use 1 or more; validate_every: 0 turns validation off");
  require("max_minutes", config.max_minutes, config.max_minutes >= 0, "use 0 for no limit");
  validate_optimizer(config.optimizer);
  config.step_options();
}

StepOptions LoopConfig::step_options() const {
  if (recompute_every < 1) {
    fail(ExitCode::kConfig, fmt::format("loop.recompute_every = {} is too small", recompute_every),
         "use 1 to recompute every block, 2 for every other one");
  }
  return {.blocks = {.recompute = recompute,
                     .recompute_every = recompute_every,
                     .stack_layers = stack_layers},
          .memory_limit_bytes = memory_limit.empty() ? 0 : parse_bytes(memory_limit)};
}

LoopResult run_training(runtime::Session& session, const nn::TrainSpec& spec,
                        const LoopConfig& config, const BatchSource& batches,
                        const LoopOptions& options) {
  const auto start = Clock::now();
  validate(config);
  const OutputFolder run(options.run);
  require_writable(options.run / "log.jsonl.probe");
  const OwnerLock only_training(options.run, "training",
                                options.run.string() + ": another training uses this run folder",
                                "wait until it ends, or use another --run folder");
  Trainer trainer(session, spec, config.optimizer, config.steps, static_cast<uint64_t>(config.seed),
                  config.step_options());
  spdlog::info("{}: {} parameters, step compiled in {}", spec.name,
               spec.parameters->element_count(), format_duration(seconds_since(start)));
  int64_t step = start_or_resume(trainer, options);
  Validation validation(trainer, options.held_out, validation_batches(config, options.held_out));
  Json head = run_record(session, spec, config.optimizer, config.step_options().blocks, step);
  head["run"]["validation_batches"] = validation.batches();
  Reporter reporter(spec, trainer.scalar_names(), config, options.run, head);
  BatchQueue queue(batches, step, config.steps, config.batches_ahead);
  bool stopped = false;
  options.before_first_step();
  while (step < config.steps && !stopped) {
    const auto batch = queue.take();
    const auto begin = Clock::now();
    const Trainer::Result result = trainer.run(step, batch);
    const double step_s = seconds_since(begin);
    require_finite(trainer, step, result.scalars);
    reporter.add(step, result, step_s);
    ++step;
    stopped = options.should_stop() ||
              (config.max_minutes > 0 && seconds_since(start) > 60 * config.max_minutes);
    if (step % config.checkpoint_every == 0 || stopped || step == config.steps) {
      save_checkpoint(options.run, {step, options.config, trainer.state()});
    }
    if (validation.batches() > 0 && is_validated(config, step)) {
      const auto from = Clock::now();
      const auto means = validation.means(step);
      reporter.add_validation(step, means, seconds_since(from));
    }
  }
  return {.steps_done = step,
          .finished = step == config.steps,
          .seconds = seconds_since(start),
          .final_loss = reporter.last_loss(),
          .validation_loss = reporter.validation_loss(),
          .parameters = trainer.released_parameters()};
}

}  // namespace hum::train
