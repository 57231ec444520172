#include "train/checkpoint.h"

#include <algorithm>

#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "runtime/weights.h"

namespace hum::train {
namespace fs = std::filesystem;
namespace {

constexpr int kFormatVersion = 1;
constexpr const char* kTensors = "state.safetensors";
constexpr const char* kState = "state.json";

// The folders step-..., oldest first.
std::vector<fs::path> step_folders(const fs::path& run) {
  std::vector<fs::path> folders;
  if (!fs::is_directory(run)) return folders;
  for (const auto& entry : fs::directory_iterator(run)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("step-")) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

Checkpoint read_checkpoint(const fs::path& folder) {
  const Json state = read_json(folder / kState);
  if (state.value("version", 0) != kFormatVersion) {
    fail(ExitCode::kBadData, folder.string() + ": unknown checkpoint version");
  }
  if (state.value("sha256", "") != sha256_file(folder / kTensors)) {
    fail(ExitCode::kBadData, folder.string() + ": the tensors do not match their hash");
  }
  Checkpoint checkpoint{state.at("step").get<int64_t>(), state.at("config"), {}};
  for (auto& [name, tensor] : runtime::read_tensors(folder / kTensors)) {
    checkpoint.state.push_back({name, std::move(tensor)});
  }
  return checkpoint;
}

}  // namespace

void save_checkpoint(const fs::path& run, const Checkpoint& checkpoint, int keep) {
  remove_abandoned_folders(run, ".step-");
  AtomicFolder folder(run / fmt::format("step-{:08d}", checkpoint.step));
  const fs::path& aside = folder.temporary_path();
  runtime::NamedTensors tensors;
  for (const auto& [name, tensor] : checkpoint.state) tensors.emplace_back(name, tensor);
  runtime::write_tensors(aside / kTensors, tensors);
  write_json(aside / kState, {{"version", kFormatVersion},
                              {"step", checkpoint.step},
                              {"sha256", sha256_file(aside / kTensors)},
                              {"config", checkpoint.config}});
  folder.commit();
  auto folders = step_folders(run);
  // Newer ones are damaged, since the run resumed from an older one.
  std::erase_if(folders,
                [&](const fs::path& other) { return other.filename() > folder.path().filename(); });
  for (size_t i = 0; i + static_cast<size_t>(keep) < folders.size(); ++i) {
    fs::remove_all(folders[i]);
  }
}

std::optional<Checkpoint> latest_checkpoint(const fs::path& run) {
  auto folders = step_folders(run);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    try {
      return read_checkpoint(*folder);
    } catch (const Error& error) {  // an older checkpoint may be intact
      spdlog::warn("skipping {}: {}", folder->string(), error.message());
    }
  }
  if (folders.empty()) return std::nullopt;
  fail(ExitCode::kBadData, run.string() + ": none of its checkpoints can be read",
       "to start again, move the step-* folders away or use another --run folder");
}

}  // namespace hum::train
