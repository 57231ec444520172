#include "eval/listening/answers.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "eval/listening/mushra.h"

namespace hum::eval {
namespace {

constexpr double kMaxScore = 100;

[[noreturn]] void refuse(const std::string& file, const std::string& what,
                         const std::string& hint =
                             "give files that listening.html of a report "
                             "saved (docs/formats/listening.md)") {
  fail(ExitCode::kBadData, fmt::format("{}: {}", file, what), hint);
}

// The field of an object; `where` is its place in the file, for messages.
const Json& field(const std::string& file, const Json& object, const char* key,
                  const std::string& where) {
  if (!object.is_object() || !object.contains(key)) {
    refuse(file, fmt::format("{} has no '{}'", where, key));
  }
  return object[key];
}

std::string text_field(const std::string& file, const Json& object, const char* key,
                       const std::string& where) {
  const Json& value = field(file, object, key, where);
  if (!value.is_string() || value.get<std::string>().empty()) {
    refuse(file, fmt::format("'{}' of {} is not a text", key, where));
  }
  return value.get<std::string>();
}

double score_of(const std::string& file, const Json& value, const std::string& system,
                const std::string& where) {
  const double score = value.is_number() ? value.get<double>() : -1;
  if (!(score >= 0 && score <= kMaxScore)) {
    refuse(file,
           fmt::format("the score of '{}' in {} is not a number from 0 to 100", system, where));
  }
  return score;
}

RatedTrial trial_of(const std::string& file, const Json& value, const std::string& where) {
  RatedTrial trial{.clip = text_field(file, value, "clip", where)};
  const Json& scores = field(file, value, "scores", where);
  if (!scores.is_object()) refuse(file, fmt::format("'scores' of {} is not an object", where));
  for (const auto& [system, score] : scores.items()) {
    trial.scores[system] = score_of(file, score, system, where);
  }
  if (!trial.scores.contains(std::string(kHiddenReference))) {
    refuse(file, fmt::format("{} has no score of the '{}'", where, kHiddenReference));
  }
  return trial;
}

}  // namespace

Answers read_answers(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const std::string file = path.string(), whole = "the file";
  Answers answers{.file = file,
                  .test = text_field(file, json, "test", whole),
                  .listener = text_field(file, json, "listener", whole)};
  const Json& seed = field(file, json, "seed", whole);
  if (!seed.is_number_integer()) refuse(file, "'seed' is not a whole number");
  answers.seed = seed.get<int64_t>();
  const Json& trials = field(file, json, "trials", whole);
  if (!trials.is_array() || trials.empty()) refuse(file, "'trials' is not a list of trials");
  std::set<std::string> clips;
  for (size_t i = 0; i < trials.size(); ++i) {
    const std::string where = fmt::format("trial {}", i + 1);
    answers.trials.push_back(trial_of(file, trials[i], where));
    const std::string& clip = answers.trials.back().clip;
    if (!clips.insert(clip).second) refuse(file, fmt::format("'{}' is rated twice", clip));
  }
  return answers;
}

void require_one_test(std::span<const Answers> all) {
  std::map<std::pair<std::string, int64_t>, std::string> files;
  for (const Answers& answers : all) {
    if (answers.test != all.front().test) {
      refuse(answers.file, fmt::format("is of another listening test than {}", all.front().file),
             "judge the answers of each report by themselves");
    }
    const auto [earlier, is_new] =
        files.emplace(std::pair(answers.listener, answers.seed), answers.file);
    if (!is_new) {
      refuse(answers.file, fmt::format("holds the same answers as {}", earlier->second),
             "give each file once");
    }
  }
}

}  // namespace hum::eval
