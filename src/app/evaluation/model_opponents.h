// The models that `hum evaluate model` compares with the released ones: other folders of weights,
// and the baselines beside the released weights.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/evaluation/model_systems.h"

namespace hum::app {

// The folders of the baselines beside the released weights, of those that are there.
std::vector<std::filesystem::path> baseline_folders(const std::filesystem::path& weights);

class ModelOpponents {
 public:
  // The session must outlive it.
  explicit ModelOpponents(runtime::Session& session) : session_(session) {}

  // text: NAME=FOLDER. Throws: kUsage unless both are given; what reading the weights throws.
  void add(const std::string& text);
  // Adds the baselines in weights/baselines that were not added by name. Returns the missing ones
  // as {name, why}.
  std::vector<std::pair<std::string, std::string>> add_baselines(
      const std::filesystem::path& weights);

  std::vector<std::filesystem::path> folders() const;

  void prepare(const eval::TestClip& clip);
  // Two rows for each model. The rows refer to this object.
  std::vector<eval::System> systems() const;

 private:
  struct Opponent {
    std::string name;
    std::filesystem::path folder;
    std::unique_ptr<ModelSystems> model;
  };

  void add(const std::string& name, const std::filesystem::path& folder,
           std::unique_ptr<ModelSystems> model);
  bool has(const std::string& name) const;
  std::vector<eval::System> systems_of(const Opponent& opponent) const;

  runtime::Session& session_;
  std::vector<Opponent> opponents_;
};

}  // namespace hum::app
