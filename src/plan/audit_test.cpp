// Tests of the audit of plans: contradictions in published plans, and in plans with one change.
#include "plan/audit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/folders.h"

namespace hum::plan {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<Check> audit_files(const std::vector<std::string>& names) {
  std::vector<fs::path> files;
  for (const auto& name : names) {
    files.push_back(source_folder() / "tests/data/planner/audit" / name);
  }
  return audit(read_claims(files), Hardware());
}

struct Expected {
  std::string_view rule, subject;
  double stated, found;
};

bool is_near(double a, double b) { return std::abs(a - b) <= 2e-3 * std::abs(b); }

// Every row is a check whose `agrees` matches; returns the number of such checks.
size_t expect_checks(const std::vector<Check>& checks, bool agrees,
                     const std::vector<Expected>& rows) {
  for (const Expected& row : rows) {
    const auto found = std::ranges::find_if(checks, [&](const Check& check) {
      return check.agrees == agrees && check.rule == row.rule && check.subject == row.subject &&
             is_near(check.stated.value, row.stated) && is_near(check.found.value, row.found);
    });
    EXPECT_NE(found, checks.end())
        << row.rule << ", " << row.subject << ": " << row.stated << ", " << row.found;
    if (found != checks.end()) {
      EXPECT_FALSE(found->places.empty() && row.rule != "tools") << row.rule;
    }
  }
  return std::ranges::count(checks, agrees, &Check::agrees);
}

TEST(PlanAudit, FindsEveryContradictionOfTheHummingLmPage) {
  const auto checks = audit_files(
      {"humminglm.yaml", "humminglm_10b.yaml", "humminglm_launch.sh", "humminglm_aws.yaml"});
  const std::vector<Expected> wrong = {
      {"one name", "model HummingLM", 10.078e9, 385e6},
      {"parameters", "model HummingLM", 10.2e9, 10.078e9},
      {"positions", "model HummingLM", 8192, 15000},
      {"ranks", "run trainium", 128, 512},
      {"ranks", "run trainium", 16, 32},
      {"ranks", "run trainium", 128, 256},
      {"flops", "run trainium", 21, 24.145},  // 115 % of peak with dp 64
      {"hardware", "trn1.32xlarge", 400, 800},
      {"hardware", "trn1.32xlarge", 1600, 880},
      {"bill", "run h100", 566000, 188755.2},
      {"price", "run h100", 32.77, 98.32},
      {"speed", "comparison headline", 2, 1.4286},
  };
  EXPECT_EQ(expect_checks(checks, false, wrong), wrong.size());
  const auto remedy_of = [&](std::string_view rule) {
    return std::ranges::find_if(
               checks, [&](const Check& check) { return check.rule == rule && !check.agrees; })
        ->remedy;
  };
  EXPECT_EQ(remedy_of("ranks"), "dp = 64");
  EXPECT_EQ(remedy_of("bill"), "$188,755, or $98.26 per node and hour");
  EXPECT_THAT(remedy_of("price"), HasSubstr("is the price of p4d.24xlarge"));
  EXPECT_THAT(remedy_of("positions"), HasSubstr("163.8 s"));
}

TEST(PlanAudit, ReproducesWhatIsConsistentOnTheHummingLmPage) {
  const auto checks = audit_files({"humminglm.yaml", "humminglm_10b.yaml", "humminglm_launch.sh"});
  expect_checks(checks, true,
                {{"bill", "run trainium", 173000, 173376},
                 {"price", "run trainium", 21.50, 21.50},
                 {"savings", "comparison headline", 54, 54.07},
                 {"flops", "run trainium", 21, 6.0363},  // 29 % of peak with dp 16
                 {"heads", "run trainium", 8, 32},
                 {"stated twice", "run trainium", 4, 4},
                 {"devices", "run trainium", 16, 16},
                 {"hardware", "h100", 3350, 3350}});
}

TEST(PlanAudit, FindsEveryContradictionOfTheMigrationStory) {
  const auto checks = audit_files({"trn1_migration.yaml"});
  const std::vector<Expected> wrong = {
      {"ranks", "run trainium", 256, 512},
      {"devices", "run trainium", 256, 512},
      {"devices", "run ultracluster", 4096, 2048},
      {"utilization", "run trainium", 92, 17.763},
      {"utilization", "run a100", 88, 37.861},
      {"hardware", "trn2", 1300, 667},
      {"tools", "neuron-monitor", 1, 3},
      {"tools", "neuron-monitor", 1, 12},
      {"bill", "run ultracluster_reserved", 1.26e6, 126259.2},
      {"price", "run ultracluster", 21.50, 24.78},  // the price of a trn1
      {"price", "run ultracluster_reserved", 1.37, 8.197},
      {"same job", "comparison migration", 48000 * 18 * 86400.0, 42000 * 30 * 86400.0},
  };
  EXPECT_EQ(expect_checks(checks, false, wrong), wrong.size());
  for (const Check& check : checks) {
    if (check.agrees) continue;
    if (check.rule == "same job") {
      EXPECT_EQ(check.remedy, "26.25 days for $216,720 vs $184,320");
    }
    if (check.rule == "hardware") {
      EXPECT_EQ(check.remedy, "667 dense 16-bit; 1,300 is the 8-bit peak");
    }
  }
}

TEST(PlanAudit, ReproducesWhatIsConsistentInTheMigrationStory) {
  expect_checks(audit_files({"trn1_migration.yaml"}), true,
                {{"bill", "run trainium", 344, 344},
                 {"bill", "run trainium", 148608, 148608},
                 {"bill", "run a100", 256, 256},
                 {"bill", "run a100", 184320, 184320},
                 {"bill", "run ultracluster", 2752, 2752},
                 {"bill", "run ultracluster", 1.98e6, 1981440},
                 {"bill", "run ultracluster_reserved", 175, 175.36},
                 {"bill", "run validation", 1032, 1032},
                 {"bill", "run hybrid", 159140, 159140},
                 {"devices", "run a100", 64, 64},
                 {"savings", "comparison migration", 19, 19.375},
                 {"savings", "comparison hybrid", 13, 13.661},
                 {"savings", "comparison reserved", 36, 36.364},
                 {"speed", "comparison migration", 14, 14.286},
                 {"price", "run a100", 32, 32.77},
                 {"hardware", "trn1.32xlarge", 190, 190},
                 {"hardware", "trn1.32xlarge", 820, 880},
                 {"hardware", "trn1.32xlarge", 512, 549.76},
                 {"hardware", "trn1n.32xlarge", 1600, 1600},
                 {"hardware", "trn2", 3200, 3200},
                 {"hardware", "p4d.24xlarge", 320, 320}});
}

class OwnPlan : public ::testing::Test {
 protected:
  OwnPlan() { fs::create_directories(folder); }
  ~OwnPlan() override { fs::remove_all(folder); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  std::string refused(const std::string& name, const std::string& text) const {
    const fs::path path = write(name, text);
    try {
      audit(read_claims({path}), Hardware());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  fs::path folder = fs::path(::testing::TempDir()) / fmt::format("plan_audit-{}", ::getpid());
};

constexpr const char* kConsistent = R"(
models:
  M: {hidden: 4096, layers: 32, heads: 32, vocab: 32000, positions: 4096, parameters: 6.7e9,
      frames_per_second: 50, seconds: 80}
runs:
  A: {model: M, hardware: trn1.32xlarge, nodes: 16, chips: 256, cores: 512, chips_per_node: 16,
      cores_per_node: 32, ranks_per_node: 32, dp: 64, tp: 8, pp: 1, micro_batch: 1, accumulation: 4,
      global_batch: 256, sequence: 4096, steps: 100000, days: 10, tokens_per_second: 400000,
      utilization_percent: 33, price_per_node_hour: 21.50, price_per_hour: 344,
      cost_per_month: 247680, compute_cost: 82560, other_cost: 1000, total_cost: 83560}
  B: {model: M, hardware: p4d.24xlarge, nodes: 16, days: 20, tokens_per_second: 200000,
      price_per_node_hour: 32.77, compute_cost: 251674}
comparisons:
  C: {run: A, baseline: B, same_job: true, saving_percent: 67, speedup: 2,
      throughput_gain_percent: 100}
hardware:
  trn1.32xlarge: {network_gbit_per_s: 800, chip_tflops: 190}
tools:
  neuron-monitor: {flags: [-c]}
)";

struct Mutation {
  std::string from, to, extra;  // extra: a second file
  std::set<std::string> rules;
};

const Mutation kMutations[] = {
    {"", "", "", {}},
    {"", "", "tensor_parallel_size: 4", {"stated twice"}},
    {"", "", "models: {M: {parameters: 385e6}}", {"one name"}},
    {"parameters: 6.7e9", "parameters: 7.7e9", "", {"parameters"}},
    {"heads: 32", "heads: 30", "", {"heads"}},
    {"pp: 1", "pp: 3", "", {"layers", "ranks"}},
    {"sequence: 4096", "sequence: 8192", "", {"positions"}},
    {"seconds: 80", "seconds: 300", "", {"positions"}},
    {"global_batch: 256", "global_batch: 512", "", {"batch"}},
    {"dp: 64", "dp: 16", "", {"batch", "ranks"}},
    {"ranks_per_node: 32", "ranks_per_node: 16", "", {"ranks"}},
    {"chips: 256", "chips: 512", "", {"devices"}},
    {"steps: 100000", "steps: 2000000", "", {"flops"}},
    {"utilization_percent: 33", "utilization_percent: 90", "", {"utilization"}},
    {"network_gbit_per_s: 800", "network_gbit_per_s: 400", "", {"hardware"}},
    {"flags: [-c]", "flags: [--json]", "", {"tools"}},
    {"compute_cost: 82560", "compute_cost: 92560", "", {"bill"}},
    {"compute_cost: 251674", "total_cost: 351674", "", {"bill", "savings"}},
    {"price_per_node_hour: 32.77", "price_per_node_hour: 21.50", "", {"bill", "price"}},
    {"21.50, price_per_hour: 344", "8.20, price_per_hour: 344", "", {"bill", "price"}},
    {"price_per_node_hour: 21.50", "reserved: true, price_per_node_hour: 21.50", "", {}},
    {"price_per_node_hour: 32.77", "reserved: true, price_per_node_hour: 9", "", {"bill", "price"}},
    {"saving_percent: 67", "saving_percent: 54", "", {"savings"}},
    {"speedup: 2", "speedup: 3", "", {"speed"}},
    {"days: 20", "days: 30", "", {"bill", "speed", "same job"}},
};

TEST_F(OwnPlan, ContradictsItselfWhereItWasChanged) {
  std::set<std::string> met;
  for (const Mutation& mutation : kMutations) {
    std::string text = kConsistent;
    if (!mutation.from.empty()) {
      const size_t at = text.find(mutation.from);
      ASSERT_NE(at, std::string::npos) << mutation.from;
      text.replace(at, mutation.from.size(), mutation.to);
    }
    std::vector<fs::path> files = {write("plan.yaml", text)};
    if (!mutation.extra.empty()) files.push_back(write("extra.yaml", mutation.extra));
    std::set<std::string> wrong;
    for (const Check& check : audit(read_claims(files), Hardware())) {
      if (!check.agrees) wrong.insert(check.rule);
    }
    EXPECT_EQ(wrong, mutation.rules) << mutation.to << mutation.extra;
    met.insert(wrong.begin(), wrong.end());
  }
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(met.contains(std::string(rule.name))) << rule.name << " has no mutation";
  }
}

TEST(PlanAudit, AgreesWithAScriptForSlurm) {
  const auto checks = audit_files({"consistent.sbatch"});
  const std::vector<Expected> right = {
      {"stated twice", "the run", 16, 16},  {"heads", "the model", 32, 4096},
      {"heads", "the run", 8, 32},          {"layers", "the run", 2, 48},
      {"positions", "the run", 8192, 8192}, {"ranks", "the run", 8, 8}};
  EXPECT_EQ(expect_checks(checks, true, right), right.size());
  EXPECT_EQ(checks.size(), right.size());
  EXPECT_THAT(checks.front().places,
              ::testing::ElementsAre("consistent.sbatch:2", "consistent.sbatch:6"));
}

TEST_F(OwnPlan, HuggingFaceConfigsAreRead) {
  const auto path = write("config.json", R"({"hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 30, "num_key_value_heads": 8, "vocab_size": 128256, "eos": null})");
  const auto checks = audit(read_claims({path}), Hardware());
  const std::vector<Expected> wrong = {{"heads", "the model", 30, 4096},
                                       {"heads", "the model", 8, 30}};
  EXPECT_EQ(expect_checks(checks, false, wrong), wrong.size());
  EXPECT_EQ(checks.front().places.front(), "config.json: num_attention_heads");
}

TEST_F(OwnPlan, BadInputIsRefused) {
  EXPECT_THAT(refused("a.yaml", "runs: {A: {node: 16}}"), HasSubstr("unknown field 'node'"));
  EXPECT_THAT(refused("a.yaml", "runs: {A: {nodes: sixteen}}"),
              HasSubstr("not a figure above zero: \"sixteen\""));
  EXPECT_THAT(refused("a.yaml", "runs: {A: {nodes: -16}}"), HasSubstr("reading field 'nodes'"));
  EXPECT_THAT(refused("a.yaml", "models: {A: {heads: 0.5}}"),
              HasSubstr("a.yaml: models.A.heads: heads = 0.5 is not a count"));
  EXPECT_THAT(refused("a.json", "{\"hidden_size\": 1e30}"), HasSubstr("is not a count"));
  EXPECT_THAT(refused("a.yaml", "runs: [A, B]"), HasSubstr("runs is not a mapping"));
  EXPECT_THAT(refused("a.yaml", "{runs: {A: {nodes: 1}}, costs: {}}"),
              HasSubstr("unknown section 'costs'"));
  EXPECT_THAT(refused("a.yaml", "- 1"), HasSubstr("not a mapping"));
  EXPECT_THAT(refused("a.yaml", "a: [1"), HasSubstr("a.yaml:"));
  EXPECT_THAT(refused("a.yaml", "seed: 3"), HasSubstr("no figure of a training plan"));
  EXPECT_THAT(refused("a.json", "{\"hidden_size\":"), HasSubstr("a.json"));
  EXPECT_THAT(refused("a.sh", "torchrun --nnodes sixteen\n"), HasSubstr("a.sh:1: nnodes is not"));
  EXPECT_THAT(refused("a.sh", "torchrun --nnodes $NODES train.py\n"), HasSubstr("no figure"));
  EXPECT_THAT(refused("a.yaml", "{runs: {A: {nodes: 1}}, comparisons: {C: {run: A, baseline: B}}}"),
              HasSubstr("no run 'B'"));
}

}  // namespace
}  // namespace hum::plan
