#include "eval/harness/clip_log.h"

#include <fmt/ranges.h>

#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace hum::eval {
namespace {

namespace fs = std::filesystem;

// The names of the settings that differ.
std::vector<std::string> differences(const Json& settings, const Json& others) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings.items()) {
    if (!others.contains(name) || others[name] != value) names.push_back(name);
  }
  return names;
}

}  // namespace

ClipLog::ClipLog(fs::path file, Json settings)
    : file_(std::move(file)), settings_(std::move(settings)) {
  if (fs::exists(file_)) read();
  if (earlier_.empty()) fs::remove(file_);
}

void ClipLog::read() {
  const std::string text = read_file(file_);
  size_t whole = 0;  // bytes
  bool has_settings = false;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', whole)) {
    Json line = try_parse_json(std::string_view(text).substr(whole, end - whole));
    if (line.is_discarded()) break;
    whole = end + 1;
    if (has_settings) {
      earlier_.push_back(std::move(line));
    } else if (line == settings_) {
      has_settings = true;
    } else {
      spdlog::warn("{}: drops the clips that were judged with other settings: {}", file_.string(),
                   fmt::format("{}", fmt::join(differences(settings_, line), ", ")));
      return;
    }
  }
  fs::resize_file(file_, whole);
}

void ClipLog::add(const Json& clip) const {
  const bool is_new = !fs::exists(file_);
  std::ofstream out(file_, std::ios::binary | std::ios::app);
  if (is_new) out << to_text(settings_) << '\n';
  out << to_text(clip) << '\n';
  out.close();
  if (out && flush_to_disk(file_) == 0) return;
  fail(ExitCode::kCannotCreate, file_.string() + ": cannot write",
       "free some disk space and run the command again");
}

Json clip_json(const ClipResults& results) {
  Json json = Json::array();
  for (const SystemClip& result : results) {
    json.push_back({{"figures", result.figures},
                    {"octave_powers", result.octave_powers},
                    {"embedding", result.embedding}});
  }
  return json;
}

ClipResults clip_results(const Json& json) {
  ClipResults results;
  for (const Json& stored : json) {
    SystemClip& result = results.emplace_back();
    for (const Json& figure : stored.at("figures")) {
      result.figures.push_back(figure.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                : figure.get<double>());
    }
    stored.at("octave_powers").get_to(result.octave_powers);
    stored.at("embedding").get_to(result.embedding);
  }
  return results;
}

}  // namespace hum::eval
