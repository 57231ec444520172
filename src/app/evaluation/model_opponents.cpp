#include "app/evaluation/model_opponents.h"

#include <algorithm>

#include "base/error.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// Language models trained only for this comparison, all for the same number of steps.
constexpr const char* kAligned = "aligned";
constexpr std::pair<const char*, const char*> kBaselines[] = {
    {kAligned, "hum's own language model, trained for as many steps as the baselines"},
    {"valle", "the VALL-E-style baseline"},
    {"no-augmentation", "the language model trained without augmentation"}};

bool is_baseline(const std::string& name) {
  return std::ranges::any_of(kBaselines, [&](const auto& b) { return b.first == name; });
}

fs::path baseline_folder(const fs::path& weights, const char* name) {
  return weights / "baselines" / name;
}

}  // namespace

std::vector<fs::path> baseline_folders(const fs::path& weights) {
  std::vector<fs::path> folders;
  for (const auto& [name, what] : kBaselines) {
    const fs::path folder = baseline_folder(weights, name);
    if (fs::exists(folder)) folders.push_back(folder);
  }
  return folders;
}

void ModelOpponents::add(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals >= text.size() - 1) {
    fail(ExitCode::kUsage, fmt::format("--against {}: no name and folder were given", text),
         "--against plain=weights-plain");
  }
  const fs::path folder = weights_folder(text.substr(equals + 1), "--against");
  add(text.substr(0, equals), folder, std::make_unique<ModelSystems>(session_, folder));
}

void ModelOpponents::add(const std::string& name, const fs::path& folder,
                         std::unique_ptr<ModelSystems> model) {
  model->synthesizer().humming().load(is_baseline(name), true);
  opponents_.push_back({name, folder, std::move(model)});
}

std::vector<std::pair<std::string, std::string>> ModelOpponents::add_baselines(
    const fs::path& weights) {
  std::vector<std::pair<std::string, std::string>> missing;
  for (const auto& [name, what] : kBaselines) {
    const fs::path folder = baseline_folder(weights, name);
    if (has(name)) continue;
    if (!fs::exists(folder)) {
      missing.emplace_back(name, fmt::format("{}: found neither {} nor --against {}=FOLDER", what,
                                             folder.string(), name));
      continue;
    }
    auto model = std::make_unique<ModelSystems>(session_, folder);
    if (model->synthesizer().humming().reads_same_tokens()) {
      add(name, folder, std::move(model));
      continue;
    }
    missing.emplace_back(name, fmt::format("{}: {} was trained on the tokens of another codec",
                                           what, folder.string()));
  }
  return missing;
}

std::vector<fs::path> ModelOpponents::folders() const {
  std::vector<fs::path> folders;
  for (const Opponent& opponent : opponents_) folders.push_back(opponent.folder);
  return folders;
}

void ModelOpponents::prepare(const eval::TestClip& clip) {
  for (const Opponent& opponent : opponents_) opponent.model->prepare(clip, false);
}

std::vector<eval::System> ModelOpponents::systems() const {
  std::vector<eval::System> result;
  for (const Opponent& opponent : opponents_) {
    for (auto& system : systems_of(opponent)) result.push_back(std::move(system));
  }
  return result;
}

bool ModelOpponents::has(const std::string& name) const {
  return std::ranges::find(opponents_, name, &Opponent::name) != opponents_.end();
}

// A baseline plays its language model only, without the draft that hum mixes in and without the
// draft's residual. It is compared with hum's language model of the same training.
std::vector<eval::System> ModelOpponents::systems_of(const Opponent& opponent) const {
  if (!is_baseline(opponent.name)) return opponent.model->compared_as(opponent.name, {});
  auto systems = opponent.model->compared_as(opponent.name,
                                             {.lm = true, .residual = 0, .sampling = {.draft = 0}});
  if (opponent.name == kAligned || !has(kAligned)) return systems;
  systems[0].against = kAligned;
  systems[1].against = fmt::format("{}, true notes", kAligned);
  return systems;
}

}  // namespace hum::app
