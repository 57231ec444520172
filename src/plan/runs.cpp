#include "plan/runs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/names.h"
#include "plan/csv.h"
#include "plan/logs.h"
#include "plan/memory.h"

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

constexpr int64_t kMostDevices = 1'000'000;

// The names that publishers use for each figure.
class Reader {
 public:
  Reader(const Table& table, const Device& device) : table_(table), device_(device) {}

  std::vector<Run> runs(size_t row) const;
  bool known(std::initializer_list<const char*> names) const { return column(names).has_value(); }

 private:
  std::optional<size_t> column(std::initializer_list<const char*> names) const {
    return table_.column(names);
  }
  std::optional<int64_t> count(size_t row, std::initializer_list<const char*> names) const {
    return table_.count(row, column(names));
  }
  std::optional<double> number(size_t row, std::initializer_list<const char*> names) const {
    return table_.number(row, column(names));
  }
  int64_t required(size_t row, std::initializer_list<const char*> names,
                   const char* any_of = nullptr) const {
    if (const auto value = count(row, names)) return *value;
    const char* wanted = any_of != nullptr ? any_of : *names.begin();
    fail(ExitCode::kBadData, fmt::format("{}: no figure for {}", table_.place(row), wanted),
         fmt::format("a column {} (docs/formats/runs.md); the file has {}", wanted,
                     fmt::join(table_.columns(), ", ")));
  }
  bool flag(size_t row, std::initializer_list<const char*> names, bool otherwise) const {
    const std::string& text = table_.text(row, column(names));
    if (text.empty()) return otherwise;
    return text != "0" && text != "false" && text != "no";
  }
  // Devices along a mesh axis, or in total; limited so that their products are exact.
  std::optional<int64_t> devices_in(size_t row, std::initializer_list<const char*> names) const;
  Transformer model(size_t row) const;
  Layout layout(size_t row, const Transformer& model) const;
  int64_t devices(size_t row) const;
  RecomputePolicy recompute(size_t row, const Transformer& model) const;
  double measured(size_t row, int64_t global_batch) const;

  const Table& table_;
  const Device& device_;
};

Transformer Reader::model(size_t row) const {
  Transformer m;
  m.hidden = required(row, {"hidden", "hidden size"});
  m.layers = required(row, {"layers", "# layers"});
  m.heads = required(row, {"heads", "attention heads"});
  m.kv_heads = count(row, {"kv_heads"}).value_or(0);
  m.ffn = count(row, {"ffn"}).value_or(0);
  m.sequence = required(row, {"seq", "sequence length", "sequence"});
  m.vocab = count(row, {"vocab"}).value_or(m.vocab);
  // A gated MLP's width is at least about 8/3 of the model's, but not four times it.
  m.gated = flag(row, {"gated"}, m.ffn > 0 && m.ffn != 4 * m.hidden);
  m.tied_embeddings = flag(row, {"tied_embeddings"}, device_.stack.tied_embeddings);
  return m;
}

std::optional<int64_t> Reader::devices_in(size_t row,
                                          std::initializer_list<const char*> names) const {
  const auto value = count(row, names);
  if (value && *value > kMostDevices) {
    fail(ExitCode::kBadData, fmt::format("{}: {} = {}: more than {}", table_.place(row),
                                         *names.begin(), *value, kMostDevices));
  }
  return value;
}

// 0 if the file does not state it.
int64_t Reader::devices(size_t row) const {
  if (const auto gpus = devices_in(row, {"gpus", "# gpus", "devices"})) return *gpus;
  const auto nodes = devices_in(row, {"nodes"});
  return nodes ? *nodes * static_cast<int64_t>(device_.devices_per_node.value) : 0;
}

RecomputePolicy Reader::recompute(size_t row, const Transformer& model) const {
  const std::string& text = table_.text(row, column({"recompute"}));
  if (!text.empty())
    return parse_name<RecomputePolicy>(text, ExitCode::kBadData, table_.place(row));
  const Stack& stack = device_.stack;
  const std::string& usual =
      model.gated && !stack.recompute_gated.empty() ? stack.recompute_gated : stack.recompute;
  return usual == "auto" ? RecomputePolicy::kNone : from_name<RecomputePolicy>(usual);
}

Layout Reader::layout(size_t row, const Transformer& model) const {
  Layout l;
  required(row, {"tp", "tensor parallelism"});
  required(row, {"pp", "pipeline parallelism"});
  l.tp = *devices_in(row, {"tp", "tensor parallelism"});
  l.pp = *devices_in(row, {"pp", "pipeline parallelism"});
  const int64_t devices = this->devices(row);
  if (devices == 0) required(row, {"dp", "data parallelism"}, "gpus, nodes or dp");
  l.dp = devices_in(row, {"dp", "data parallelism"})
             .value_or(std::max<int64_t>(devices / (l.tp * l.pp), 1));
  if (devices > 0 && devices != l.devices()) {
    fail(ExitCode::kBadData,
         fmt::format("{}: tp {} x dp {} x pp {} is {} ranks, but there are {} devices",
                     table_.place(row), l.tp, l.dp, l.pp, l.devices(), devices),
         devices % (l.tp * l.pp) == 0 ? fmt::format("dp = {} fills them", devices / (l.tp * l.pp))
                                      : fmt::format("tp x pp must divide {}", devices));
  }
  l.global_batch = required(row, {"global_batch", "global batch"});
  l.micro_batch = count(row, {"micro_batch", "micro batch"}).value_or(0);
  if (l.micro_batch == 0 && !known({"micro_batch", "micro batch"})) l.micro_batch = 1;
  l.interleave = count(row, {"interleave"}).value_or(0);
  const Stack& stack = device_.stack;
  l.recompute = recompute(row, model);
  l.flash_attention = flag(row, {"flash_attention"}, stack.flash_attention);
  l.sequence_parallel = flag(row, {"sequence_parallel"}, stack.sequence_parallel);
  l.distributed_optimizer = flag(row, {"distributed_optimizer"}, stack.distributed_optimizer);
  l.overlap_gradients = flag(row, {"overlap_gradients"}, stack.overlap_gradients);
  return l;
}

double Reader::measured(size_t row, int64_t global_batch) const {
  if (const auto s = number(row, {"iteration_s", "full_recompute_s"})) return *s;
  if (const auto ms = number(row, {"iteration time (ms)", "iteration_ms"})) return *ms / 1e3;
  if (const auto rate = number(row, {"sequences_per_s"}))
    return static_cast<double>(global_batch) / *rate;
  return 0;
}

std::vector<Run> Reader::runs(size_t row) const {
  const ErrorContext context([&] { return "reading " + table_.place(row); });
  Run run{.name = table_.place(row)};
  run.model = model(row);
  run.layout = layout(row, run.model);
  run.measured_s = measured(row, run.layout.global_batch);
  if (!known({"iteration_s"}) && number(row, {"full_recompute_s"})) {
    run.layout.recompute = RecomputePolicy::kFull;
  }
  // A run that was measured must have been possible, so uneven ends are allowed.
  validate(run.model, run.layout, run.measured_s > 0 ? StageSplit::kShortEnds : StageSplit::kEqual,
           ExitCode::kBadData);
  const auto selective = number(row, {"sequence_parallel_selective_s"});
  if (!selective) return {run};
  run.layout.recompute = RecomputePolicy::kFull;
  Run second = run;
  run.name += " full";
  second.name += " selective";
  second.layout.recompute = RecomputePolicy::kSelective;
  second.layout.sequence_parallel = true;
  second.measured_s = *selective;
  return {run, second};
}

struct Choice {
  const Device* device;
  std::string why;  // empty: stated by the user or the file
};

// The hardware that the file states; null if it does not.
const Device* device_in(const Table& table, const Hardware& hardware) {
  const auto column = table.column({"hardware"});
  const bool says = column && !table.text(0, column).empty();
  return says ? &hardware.at(table.text(0, column), ExitCode::kBadData) : nullptr;
}

Choice choose_device(const Table& table, const std::filesystem::path& path,
                     const Hardware& hardware, const std::string& named,
                     const std::string& otherwise) {
  const Device* own = device_in(table, hardware);
  const Device* wanted = named.empty() ? nullptr : &hardware.at(named);
  if (own != nullptr && wanted != nullptr && own != wanted) {
    fail(ExitCode::kBadData,
         fmt::format("{}: runs of {}, not of {}", path.string(), own->name, wanted->name),
         "omit --hardware, and use a calibration of the hardware in the file");
  }
  if (own != nullptr || wanted != nullptr) return {own != nullptr ? own : wanted, ""};
  if (!otherwise.empty()) return {&hardware.at(otherwise), ""};
  if (const Device* device = hardware.named_in(path.stem().string()))
    return {device, "from the file's name"};
  if (table.column({"nodes"}) && table.column({"sdk"}))
    return {&hardware.at("trn1"), "from its columns nodes and sdk"};
  return {&hardware.at("a100"), "by default, since the file names none"};
}

double device_tflops(const Run& run) {
  return static_cast<double>(run.layout.global_batch) * run.model.flops_per_sequence() /
         static_cast<double>(run.layout.devices()) / run.measured_s / 1e12;
}

// A run that was faster than the device's peak allows.
const Run* beyond_peak(const Campaign& campaign, const Device& device) {
  for (const Run& run : campaign.runs) {
    if (run.measured_s > 0 && device_tflops(run) > device.peak_tflops.value) return &run;
  }
  return nullptr;
}

// All runs of a campaign have one setting: none if every run fits without recomputation, else full.
void settle_recompute(Campaign& campaign, const Device& device) {
  const bool fits = std::ranges::all_of(campaign.runs, [&](const Run& run) {
    Layout layout = run.layout;
    if (layout.micro_batch == 0) layout.micro_batch = 1;
    return memory_per_device(run.model, layout).total() <= device.memory_gb.value * 1e9;
  });
  if (!fits) {
    for (Run& run : campaign.runs) run.layout.recompute = RecomputePolicy::kFull;
  }
  campaign.assumptions.emplace_back(
      fits ? "recompute: none, since all runs fit into memory without it"
           : "recompute: full, since some runs do not fit into memory without it");
}

void note_assumptions(Campaign& campaign, const Reader& reader, const Device& device) {
  auto& notes = campaign.assumptions;
  if (!reader.known({"vocab"})) notes.push_back("vocab: 51200");
  if (!reader.known({"micro_batch", "micro batch"})) notes.push_back("micro batch: 1");
  if (std::ranges::any_of(campaign.runs,
                          [](const Run& run) { return run.layout.micro_batch == 0; }))
    notes.emplace_back("micro batch and interleave, if missing: the fastest that fit");
  if (!reader.known({"recompute", "full_recompute_s"}) && device.stack.recompute != "auto") {
    notes.push_back("recompute: " + device.stack.recompute +
                    (device.stack.recompute_gated.empty()
                         ? ""
                         : ", " + device.stack.recompute_gated + " with a gated MLP"));
  }
  notes.push_back("software: " + device.stack.name);
}

Campaign read_as(const Table& table, const std::string& name, const Device& device) {
  Campaign campaign{.name = name, .device = device.name};
  const Reader reader(table, device);
  for (size_t row = 0; row < table.rows(); ++row) {
    for (Run& run : reader.runs(row)) campaign.runs.push_back(std::move(run));
  }
  if (!reader.known({"recompute", "full_recompute_s"}) && device.stack.recompute == "auto")
    settle_recompute(campaign, device);
  note_assumptions(campaign, reader, device);
  return campaign;
}

void require_one_hardware(const Table& table) {
  const auto column = table.column({"hardware"});
  for (size_t row = 1; column && row < table.rows(); ++row) {
    if (table.text(row, column) == table.text(0, column)) continue;
    fail(ExitCode::kBadData,
         fmt::format("{}: the hardware differs from the first row's {}", table.place(row),
                     table.text(0, column)),
         "one file holds the runs of one hardware");
  }
}

}  // namespace

Campaign read_campaign(const std::filesystem::path& path, const Hardware& hardware,
                       const std::string& device_name, const std::string& otherwise) {
  if (is_log(path)) {
    return read_logs(std::span(&path, 1), hardware, device_name.empty() ? otherwise : device_name);
  }
  const Table table(path);
  const std::string name = path.filename().string();
  Choice choice = choose_device(table, path, hardware, device_name, otherwise);
  require_one_hardware(table);
  Campaign campaign = read_as(table, name, *choice.device);
  if (choice.device->name == "a100" && !choice.why.empty() &&
      beyond_peak(campaign, *choice.device)) {
    choice = {&hardware.at("h100"), "since its runs are too fast for an a100"};
    campaign = read_as(table, name, *choice.device);
  }
  if (const Run* run = beyond_peak(campaign, *choice.device)) {
    fail(ExitCode::kBadData,
         fmt::format("{}: {:.0f} TFLOP/s per device, more than the {:.0f} a {} has at its peak",
                     run->name, device_tflops(*run), choice.device->peak_tflops.value,
                     choice.device->name),
         "wrong hardware (--hardware)? Or a figure has the wrong unit");
  }
  if (!choice.why.empty()) {
    campaign.assumptions.insert(campaign.assumptions.begin(),
                                fmt::format("hardware: {}, {} (override with --hardware)",
                                            choice.device->name, choice.why));
  }
  return campaign;
}

}  // namespace hum::plan
