#include "app/weights_check.h"

#include "base/error.h"
#include "models/registry.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {

std::vector<CheckedWeights> check_weights(runtime::Session& session,
                                          const std::filesystem::path& folder) {
  std::vector<CheckedWeights> checked;
  std::string parts;
  for (const models::ModelRow& row : models::registry()) {
    if (!row.weights) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(*row.weights);
    const auto part = models::weights_part(folder, *row.weights);
    if (!std::filesystem::exists(part)) continue;
    (*row.open)(session, folder, *row.weights);
    const auto stored = runtime::read_weights(part);
    const auto model = row.configuration->make(stored.config.at("model"));
    checked.push_back(
        {std::string(row.name), model->parameters().element_count(), runtime::shards_sha256(part)});
  }
  if (checked.empty()) {
    fail(ExitCode::kNoInput, folder.string() + ": none of hum's models are in this folder",
         "it has one or more of the folders " + parts);
  }
  return checked;
}

}  // namespace hum::app
