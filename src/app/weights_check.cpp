#include "app/weights_check.h"

#include "app/session_options.h"
#include "base/error.h"
#include "base/json.h"
#include "models/registry.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {

Json weights_report(const std::filesystem::path& folder) {
  runtime::Session session(session_options());
  Json report = Json::array();
  std::string parts;
  for (const models::ModelRow& row : models::registry()) {
    if (!row.weights) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(*row.weights);
    const auto part = models::weights_part(folder, *row.weights);
    if (!std::filesystem::exists(part)) continue;
    (*row.open)(session, folder, *row.weights);
    const auto stored = runtime::read_weights(part);
    const auto model = row.configuration->make(stored.config.at("model"));
    report.push_back({{"model", row.name},
                      {"parameters", model->parameters().element_count()},
                      {"sha256", runtime::shards_sha256(part)}});
  }
  if (report.empty()) {
    fail(ExitCode::kNoInput, folder.string() + ": none of hum's models is in this folder",
         "a folder of weights has one or more of " + parts);
  }
  return report;
}

std::string weights_text(const Json& report) {
  std::string text;
  for (const Json& row : report) {
    text += fmt::format("{:<12}{:>12} parameters  sha256 {}\n", row["model"].get<std::string>(),
                        row["parameters"].get<int64_t>(), row["sha256"].get<std::string>());
  }
  return text;
}

}  // namespace hum::app
