// What tests of trainings share: rendered items, and configurations of tiny models.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/training/configuration.h"
#include "app/training/own_songs.h"
#include "base/scratch_folder.h"
#include "data/shards/make_items.h"
#include "data/stems/stem_shards.h"
#include "models/testing.h"

namespace hum::app::testing {

// Makes `count` items of these presets in one shard.
inline void make_few_items(const std::filesystem::path& folder, int64_t count,
                           const std::vector<std::string>& presets = {"violin",
                                                                      "acoustic-grand-piano"}) {
  data::MakeOptions options{.count = count, .items_per_shard = count, .threads = 1};
  options.items.presets = presets;
  data::make_items(folder, options);
}

// Makes `count` windows of 2 s of hum's own songs in one shard, on the smallest sound font.
inline void make_few_stems(const std::filesystem::path& folder, int64_t count) {
  data::MakeStemsOptions options{.count = count, .windows_per_shard = count, .threads = 1};
  auto& material = options.material;
  material.seconds = 2;
  material.packages = {};
  material.mma_share = 0;
  material.own_share = 1;
  material.sound_fonts = {"timgm6mb"};
  material.drum_fonts = {};
  data::make_stems(folder, options, compose_song);
}

// A tiny model on batches of two items, in f32, at a learning rate that stays.
inline ModelConfiguration tiny_configuration(const models::ModelRow& row,
                                             const std::filesystem::path& data,
                                             double learning_rate) {
  ModelConfiguration result{.path = "tiny.yaml", .row = &row};
  result.model = models::tiny_config(row.name);
  StageConfig& stage = result.stage;
  stage.data = data;
  stage.batch = 2;
  stage.compute = Compute::kF32;
  auto& optimizer = stage.loop.optimizer;
  optimizer.learning_rate = optimizer.final_learning_rate = learning_rate;
  optimizer.warm_up_steps = 1;
  return result;
}

// Items in folder_/data; compiled programs stay in the folder.
class TrainingTest : public ::testing::Test {
 protected:
  explicit TrainingTest(int64_t count, const std::vector<std::string>& presets = {
                                           "violin", "acoustic-grand-piano"}) {
    ::setenv("HUM_CACHE", (folder_ / "cache").c_str(), /*overwrite=*/1);
    make_few_items(folder_ / "data", count, presets);
  }
  ~TrainingTest() override { ::unsetenv("HUM_CACHE"); }

  ModelConfiguration tiny(std::string_view name, double learning_rate) const {
    return tiny_configuration(*models::find_model(name), folder_ / "data", learning_rate);
  }

  ScratchFolder folder_;
};

}  // namespace hum::app::testing
