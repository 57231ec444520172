// The figures that a training plan states, in any file format, each with its place. Non-goals:
// judging them (audit.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hum::plan {

struct Claim {
  double value = 0;
  std::string place;  // "launch.sh:17", "plan.yaml: runs.trainium.nodes"
};

// A figure, as often as the plan states it; the first one counts.
class Stated {
 public:
  explicit operator bool() const { return !claims_.empty(); }
  double value() const { return claims_.front().value; }
  double value_or(double otherwise) const { return claims_.empty() ? otherwise : value(); }
  const std::string& place() const { return claims_.front().place; }
  const std::vector<Claim>& all() const { return claims_; }
  void add(Claim claim) { claims_.push_back(std::move(claim)); }
  void locate(const std::string& place) {
    for (Claim& claim : claims_) claim.place = place;
  }

 private:
  std::vector<Claim> claims_;
};

// Throws kBadData: not a number above zero.
void from_json(const Json& json, Stated& stated);

struct ModelClaims {
  std::string name;
  Stated hidden, layers, heads, kv_heads, ffn, vocab, positions, parameters;
  Stated frames_per_second, seconds;
  bool gated = false, tied_embeddings = false, learned_positions = false;
  template <class V>
  void visit_fields(V& v) {
    v("hidden", hidden, "width");
    v("layers", layers, "blocks");
    v("heads", heads, "attention heads");
    v("kv_heads", kv_heads, "key-value heads");
    v("ffn", ffn, "width between the MLP's products (4 x hidden)");
    v("vocab", vocab, "tokens");
    v("positions", positions, "tokens per sequence, at most");
    v("parameters", parameters, "number of parameters");
    v("frames_per_second", frames_per_second, "tokens per second of audio");
    v("seconds", seconds, "seconds of audio per sequence, at most");
    v("gated", gated, "three products in the MLP");
    v("tied_embeddings", tied_embeddings, "the head is the transposed embedding");
    v("learned_positions", learned_positions, "the model has learned position embeddings");
  }
};

struct RunClaims {
  std::string name, model, hardware;
  std::vector<std::string> parts;  // runs whose costs add up to this one's
  bool reserved = false;
  Stated nodes, chips, cores, chips_per_node, cores_per_node, ranks_per_node;
  Stated dp, tp, pp, micro_batch, accumulation, micro_batches, global_batch, sequence, steps;
  Stated tokens, tokens_per_second, utilization_percent, days;
  Stated price_per_node_hour, price_per_hour, cost_per_month, compute_cost, other_cost, total_cost;
  template <class V>
  void visit_fields(V& v) {
    v("model", model, "the model's name");
    v("hardware", hardware, "the node type, as in hardware/devices.yaml");
    v("parts", parts, "runs whose costs add up to this one's");
    v("nodes", nodes, "nodes");
    v("chips", chips, "accelerators of all nodes");
    v("cores", cores, "devices a rank can run on, of all nodes");
    v("chips_per_node", chips_per_node, "accelerators per node");
    v("cores_per_node", cores_per_node, "devices a rank can run on, per node");
    v("ranks_per_node", ranks_per_node, "processes started per node");
    v("reserved", reserved, "the price is a reserved one, not on demand");
    v("dp", dp, "data-parallel ranks");
    v("tp", tp, "tensor-parallel ranks");
    v("pp", pp, "pipeline stages");
    v("micro_batch", micro_batch, "sequences that a data-parallel rank processes at once");
    v("accumulation", accumulation, "micro-batches per optimizer step");
    v("micro_batches", micro_batches, "micro-batches per pipeline step");
    v("global_batch", global_batch, "sequences per step");
    v("sequence", sequence, "tokens per sequence");
    v("steps", steps, "optimizer steps");
    v("tokens", tokens, "tokens to train on");
    v("tokens_per_second", tokens_per_second, "tokens per second of all nodes");
    v("utilization_percent", utilization_percent, "percent of the hardware's peak");
    v("days", days, "from start to end");
    v("price_per_node_hour", price_per_node_hour, "US dollars per node and hour");
    v("price_per_hour", price_per_hour, "US dollars per hour for all nodes");
    v("cost_per_month", cost_per_month, "US dollars for 30 days of all nodes");
    v("compute_cost", compute_cost, "US dollars: nodes x price x time");
    v("other_cost", other_cost, "US dollars for storage and networking");
    v("total_cost", total_cost, "both");
  }
};

// One run against another.
struct ComparisonClaims {
  std::string name, run, baseline;
  bool same_job = false;  // both train the same model on as many tokens
  Stated saving_percent, monthly_saving_percent, speedup, throughput_gain_percent;
  template <class V>
  void visit_fields(V& v) {
    v("run", run, "the run that is claimed to be better");
    v("baseline", baseline, "the run it is compared with");
    v("same_job", same_job, "both train the same model on as many tokens");
    v("saving_percent", saving_percent, "percent of the total cost");
    v("monthly_saving_percent", monthly_saving_percent, "percent of the monthly cost");
    v("speedup", speedup, "baseline's days over the run's");
    v("throughput_gain_percent", throughput_gain_percent, "percent more tokens per second");
  }
};

// Figures of a node or chip that the plan quotes.
struct HardwareClaims {
  std::string name;
  Stated chip_tflops, chip_memory_gb, chip_memory_gb_per_s, node_memory_gb, network_gbit_per_s,
      chips_per_node, cores_per_node, price_per_node_hour;
  template <class V>
  void visit_fields(V& v) {
    v("chip_tflops", chip_tflops, "dense 16-bit TFLOP/s");
    v("chip_memory_gb", chip_memory_gb, "memory of a chip");
    v("chip_memory_gb_per_s", chip_memory_gb_per_s, "memory bandwidth of a chip");
    v("node_memory_gb", node_memory_gb, "memory of all chips of a node");
    v("network_gbit_per_s", network_gbit_per_s, "network bandwidth of a node");
    v("chips_per_node", chips_per_node, "accelerators per node");
    v("cores_per_node", cores_per_node, "devices a rank can run on, per node");
    v("price_per_node_hour", price_per_node_hour, "US dollars on demand");
  }
};

// A program that the plan relies on, and what the plan states about it.
struct ToolClaims {
  std::string name, place;
  std::vector<std::string> flags, fields;
  template <class V>
  void visit_fields(V& v) {
    v("flags", flags, "flags it is called with");
    v("fields", fields, "fields of its output");
  }
};

// A key, flag or variable with its text.
struct Setting {
  std::string key, value, place;
  bool counts = true;  // false: a list, a variable that no flag uses, a value that is not known
};

struct PlanClaims {
  std::vector<ModelClaims> models;
  std::vector<RunClaims> runs;
  std::vector<ComparisonClaims> comparisons;
  std::vector<HardwareClaims> hardware;
  std::vector<ToolClaims> tools;
  std::vector<Setting> not_read;  // figures of configurations and scripts under unknown names
};

// Reads files that together describe one plan: plans (docs/formats/plans.md), training
// configurations in YAML or JSON (a Hugging Face config.json), shell scripts for sbatch or
// torchrun. Configurations and scripts describe the first model and run. Throws: kNoInput; kConfig
// for YAML that does not parse or has unknown fields; kBadData for invalid figures, and for files
// without any.
PlanClaims read_claims(const std::vector<std::filesystem::path>& files);

}  // namespace hum::plan
