// Tests of the figures read from configurations and launch scripts, and of those reported as not
// read.
#include "plan/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "plan/audit.h"

namespace hum::plan {
namespace {

namespace fs = std::filesystem;

class Claims : public ::testing::Test {
 protected:
  Claims() { fs::create_directories(folder); }
  ~Claims() override { fs::remove_all(folder); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  fs::path folder = fs::path(::testing::TempDir()) / fmt::format("plan_claims-{}", ::getpid());
};

std::vector<std::string> not_read(const PlanClaims& claims) {
  std::vector<std::string> figures;
  for (const Setting& setting : claims.not_read) {
    figures.push_back(setting.key + "=" + setting.value + "@" + setting.place);
  }
  return figures;
}

TEST_F(Claims, OfACloudIsReadInItsOwnNames) {
  const auto path = write("plan.yaml", R"(
    instances: 8
    instance_type: ml.p5.48xlarge
    price_per_hour: $98.32
    days: 30
    total_cost: 847,000
    sequence_length: 8192
    context_length: 4096
    num_parameters: 7B)");
  const PlanClaims claims = read_claims({path});
  EXPECT_EQ(claims.runs.at(0).hardware, "p5.48xlarge");
  EXPECT_EQ(claims.models.at(0).parameters.value(), 7e9);
  EXPECT_THAT(not_read(claims), ::testing::IsEmpty());
  std::set<std::string> right, wrong;
  for (const Check& check : audit(claims, Hardware())) {
    (check.agrees ? right : wrong).insert(check.rule);
  }
  EXPECT_THAT(wrong, ::testing::ElementsAre("bill", "positions"));
  EXPECT_THAT(right, ::testing::ElementsAre("price"));
}

TEST_F(Claims, AnHourCostsWhatAllNodesDoWhereNoInstanceIsNamed) {
  const PlanClaims claims =
      read_claims({write("plan.yaml", "{nodes: 8, price_per_hour: 100, duration_hours: 48}")});
  EXPECT_EQ(claims.runs.at(0).price_per_hour.value(), 100);
  EXPECT_FALSE(claims.runs.at(0).price_per_node_hour);
  EXPECT_EQ(claims.runs.at(0).days.value(), 2);
}

TEST_F(Claims, FiguresUnderUnknownNamesAreListed) {
  const auto path = write("train.yaml", R"(
    nodes: 4
    hidden_act: gelu
    layout: [1, 2]
    optimizer: {lr: 3e-4, betas: [0.9, 0.95], name: adamw2, warmup: 2000 steps}
    stages: [{days: 3, discount: 10%}, {name: last}]
    resume: true)");
  EXPECT_THAT(not_read(read_claims({path})),
              ::testing::UnorderedElementsAre("layout=[1,2]@train.yaml: layout",
                                              "lr=0.0003@train.yaml: optimizer.lr",
                                              "betas=[0.9,0.95]@train.yaml: optimizer.betas",
                                              "warmup=2000 steps@train.yaml: optimizer.warmup",
                                              "discount=10%@train.yaml: stages.0.discount"));
}

TEST_F(Claims, FiguresOfScriptsThatNoKnownFlagTakesAreListed) {
  const auto path = write("launch.sh", R"(#!/bin/bash
#SBATCH --time=24:00:00
NODES=16
WORLD=$((16 * 8))
export OMP_NUM_THREADS=4
torchrun --nnodes $NODES --nproc_per_node $((4*2)) train.py --run a100 --lr 1e-4
)");
  EXPECT_THAT(
      not_read(read_claims({path})),
      ::testing::UnorderedElementsAre(
          "time=24:00:00@launch.sh:2", "WORLD=$((16@launch.sh:4", "OMP_NUM_THREADS=4@launch.sh:5",
          "nproc_per_node=$((4*2))@launch.sh:6", "lr=1e-4@launch.sh:6"));
}

// In these files the non-numeric settings precede the figures.
TEST_F(Claims, WordsOfHuggingFaceConfigsCountWhereverTheyStand) {
  const auto llama = read_claims({write("llama.json", R"({"hidden_act": "silu",
    "hidden_size": 4096, "num_hidden_layers": 32, "tie_word_embeddings": false})")});
  EXPECT_TRUE(llama.models.at(0).gated);
  const auto gpt2 = read_claims({write("gpt2.json", R"({"model_type": "gpt2", "n_embd": 768})")});
  EXPECT_TRUE(gpt2.models.at(0).learned_positions);
  const auto tied = read_claims(
      {write("tied.json",
             R"({"tie_word_embeddings": true, "model_type": "llama", "hidden_size": 2048})")});
  EXPECT_TRUE(tied.models.at(0).tied_embeddings);
}

}  // namespace
}  // namespace hum::plan
