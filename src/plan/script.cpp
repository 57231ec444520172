#include "plan/script.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace hum::plan {

namespace {

struct Variable {
  std::string value, place;
  bool is_used = false;
};
using Variables = std::map<std::string, Variable>;

std::string unquoted(std::string word) {
  std::erase_if(word, [](char c) { return c == '"' || c == '\'' || c == ';'; });
  return word;
}

// Expands $NAME and ${NAME}; nothing if a variable is not set.
std::optional<std::string> resolved(const std::string& word, Variables& variables) {
  if (word.find('$') == std::string::npos) return word;
  if (word.front() != '$') return std::nullopt;
  std::string name = word.substr(1);
  if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  found->second.is_used = true;
  return found->second.value;
}

// Variables that a runtime reads; all others count only if a flag uses them.
constexpr std::string_view kRuntimeVariables[] = {"NEURON_RT_NUM_CORES"};

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  for (const unsigned char c : text) {
    if (!std::isalnum(c) && c != '_') return false;
  }
  return true;
}

// Slurm's short forms, and its generic resources: gpu:8.
Setting slurm(Setting setting) {
  if (setting.key == "N") setting.key = "nodes";
  if (setting.key == "gres" && setting.value.starts_with("gpu:")) {
    setting.key = "gpus_per_node";
    setting.value = setting.value.substr(setting.value.rfind(':') + 1);
  } else if (setting.key == "gpus_per_node" || setting.key == "gpus-per-node") {
    setting.value = setting.value.substr(setting.value.rfind(':') + 1);
  }
  return setting;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    if (word.starts_with('#')) break;
    if (word != "\\") words.push_back(unquoted(std::move(word)));
  }
  return words;
}

class Script {
 public:
  explicit Script(std::string name) : name_(std::move(name)) {}

  void read_line(std::string line, int number) {
    place_ = name_ + ":" + std::to_string(number);
    const bool slurm_line = line.starts_with("#SBATCH");
    if (slurm_line) line = line.substr(7);
    for (const std::string& word : words_of(line)) read_word(word, slurm_line);
    if (!line.ends_with('\\')) flag_.clear();
  }
  std::vector<Setting> settings() && {
    for (const auto& [name, variable] : variables_) {
      if (!variable.is_used) settings_.push_back({name, variable.value, variable.place, false});
    }
    return std::move(settings_);
  }

 private:
  void read_word(const std::string& word, bool slurm_line) {
    const size_t equals = word.find('=');
    const size_t dashes = word.starts_with("--") ? 2 : slurm_line && word.starts_with('-') ? 1 : 0;
    if (dashes > 0) {
      flag_ = word.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
      if (equals != std::string::npos) set(std::exchange(flag_, ""), word.substr(equals + 1));
    } else if (!flag_.empty()) {
      set(std::exchange(flag_, ""), word);
    } else if (equals != std::string::npos && is_name(word.substr(0, equals))) {
      const std::string key = word.substr(0, equals);
      const auto value = resolved(word.substr(equals + 1), variables_);
      const bool is_read = std::ranges::find(kRuntimeVariables, key) != std::end(kRuntimeVariables);
      if (is_read) {
        set(key, word.substr(equals + 1));
      } else if (!value) {
        settings_.push_back({key, word.substr(equals + 1), place_, false});
      }
      if (value) variables_[key] = {*value, place_, is_read};
    }
  }
  void set(const std::string& key, const std::string& word) {
    if (word.empty()) return;
    const auto value = resolved(word, variables_);
    settings_.push_back(slurm({key, value.value_or(word), place_, value.has_value()}));
  }

  std::vector<Setting> settings_;
  std::string name_, place_, flag_;
  Variables variables_;
};

}  // namespace

std::vector<Setting> read_script(std::string_view text, const std::string& name) {
  Script script(name);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    script.read_line(line, ++number);
  }
  return std::move(script).settings();
}

}  // namespace hum::plan
