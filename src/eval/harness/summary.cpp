#include "eval/harness/summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "eval/metrics/frechet.h"
#include "eval/metrics/octave_bands.h"

namespace hum::eval {
namespace {

constexpr int64_t kMinFadClips = 2;

// Computes intervals with one set of draws per number of clips.
class Intervals {
 public:
  explicit Intervals(const BootstrapOptions& options) : options_(options) {}

  Json of(std::vector<double> values) {
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    if (values.empty()) return nullptr;
    const int64_t clips = std::ssize(values);
    auto& resamples = resamples_[clips];
    if (resamples.empty()) resamples = draw_resamples(clips, options_);
    const Interval interval = mean_interval(values, resamples, options_.confidence);
    // A NaN becomes null in JSON.
    return {{"value", interval.value},
            {"low", interval.low},
            {"high", interval.high},
            {"clips", clips}};
  }

 private:
  BootstrapOptions options_;
  std::map<int64_t, std::vector<int32_t>> resamples_;
};

std::string_view better_name(Better better) {
  if (better == Better::kNeither) return "neither";
  return better == Better::kHigher ? "higher" : "lower";
}

Json metric_list() {
  Json list = Json::array();
  for (const Metric& metric : metrics()) {
    list.push_back({{"key", metric.key},
                    {"name", metric.name},
                    {"unit", metric.unit},
                    {"better", better_name(metric.better)},
                    {"what", metric.what}});
  }
  return list;
}

// Turns value(clip, metric) of the clips into {metric: interval}.
template <typename Value>
Json figures_of(const std::vector<size_t>& clips, Intervals& intervals, const Value& value) {
  Json result = Json::object();
  for (size_t m = 0; m < metrics().size(); ++m) {
    std::vector<double> values;
    values.reserve(clips.size());
    for (const size_t clip : clips) values.push_back(value(clip, m));
    result[std::string(metrics()[m].key)] = intervals.of(std::move(values));
  }
  return result;
}

// Null when the system was not evaluated.
const SystemResult* find_if_there(const Evaluation& evaluation, std::string_view name) {
  const auto found = std::ranges::find(evaluation.systems, name, &SystemResult::name);
  return found == evaluation.systems.end() ? nullptr : &*found;
}

const SystemResult& find(const Evaluation& evaluation, std::string_view name) {
  const SystemResult* found = find_if_there(evaluation, name);
  HUM_REQUIRE(found != nullptr, "summarise: no system '{}' to compare with", name);
  return *found;
}

std::vector<double> mean_row(const audio::Matrix<double>& matrix) {
  std::vector<double> mean(static_cast<size_t>(matrix.columns));
  for (size_t i = 0; i < matrix.values.size(); ++i) {
    mean[i % mean.size()] += matrix.values[i] / static_cast<double>(matrix.rows);
  }
  return mean;
}

// Compares octave bands with the true rendering's, all clips as one sound.
Json octaves_of(const SystemResult& system, const SystemResult* truth) {
  if (truth == nullptr) return nullptr;
  const auto bands = octave_bands(mean_row(truth->octave_powers), mean_row(system.octave_powers));
  Json result = {{"largest_db", octave_band_difference_db(bands)},
                 {"largest_db_from_62_hz", octave_band_difference_db(std::span(bands).subspan(1))},
                 {"bands", Json::array()}};
  for (const OctaveBand& band : bands) {
    result["bands"].push_back({{"hz", band.center_hz}, {"difference_db", band.difference_db()}});
  }
  return result;
}

// Compares embeddings with those of the true renderings of the same clips.
Json fad_of(const SystemResult& system, const SystemResult* truth) {
  if (truth == nullptr || system.embeddings.rows < kMinFadClips) return nullptr;
  return {{"embedding", kFadName},
          {"value", frechet_distance(truth->embeddings, system.embeddings)},
          {"clips", system.embeddings.rows}};
}

}  // namespace

std::vector<ClipGroup> clip_groups(std::span<const TestClipPlan> plans) {
  std::vector<ClipGroup> groups;
  auto add = [&](std::string_view name, auto belongs) {
    ClipGroup group{std::string(name), {}};
    for (size_t i = 0; i < plans.size(); ++i) {
      if (belongs(plans[i])) group.clips.push_back(i);
    }
    if (!group.clips.empty()) groups.push_back(std::move(group));
  };
  add("all", [](const TestClipPlan&) { return true; });
  for (const Split split : kSplits) {
    add(split_name(split), [&](const TestClipPlan& plan) { return plan.split == split; });
  }
  add(kSameRegister, [](const TestClipPlan& plan) {
    return plan.split == Split::kUnseenPreset &&
           std::abs(plan.register_semitones) <= kSameRegister_semitones;
  });
  for (int mode = 0; mode < data::kModes; ++mode) {
    add(data::mode_name(static_cast<data::Mode>(mode)),
        [&](const TestClipPlan& plan) { return static_cast<int>(plan.mode) == mode; });
  }
  return groups;
}

Json summarise(const Evaluation& evaluation, const BootstrapOptions& options) {
  const auto groups = clip_groups(evaluation.plans);
  Intervals intervals(options);
  Json result = {{"metrics", metric_list()}, {"groups", Json::object()}, {"rows", Json::array()}};
  for (const auto& group : groups) result["groups"][group.name] = group.clips.size();
  const SystemResult& first = evaluation.systems.front();
  const SystemResult* truth = find_if_there(evaluation, true_rendering().name);
  for (const SystemResult& system : evaluation.systems) {
    Json row = {{"name", system.name}, {"role", role_name(system.role)}, {"what", system.what}};
    for (const auto& group : groups) {
      row["groups"][group.name] = figures_of(
          group.clips, intervals, [&](size_t clip, size_t m) { return system.clips[clip][m]; });
    }
    if (&system != &first) {
      const SystemResult& other = system.against.empty() ? first : find(evaluation, system.against);
      row["against"] = other.name;
      for (const auto& group : groups) {
        row["differences"][group.name] = figures_of(
            group.clips, intervals,
            [&](size_t clip, size_t m) { return system.clips[clip][m] - other.clips[clip][m]; });
      }
    }
    row["fad"] = fad_of(system, truth);
    row["octaves"] = octaves_of(system, truth);
    result["rows"].push_back(std::move(row));
  }
  return result;
}

namespace {
// A CSV field. Source: RFC 4180, section 2.
std::string csv_field(std::string_view text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}
}  // namespace

std::string clips_csv(const Evaluation& evaluation) {
  std::string csv = "row,clip,split,preset,mode";
  for (const Metric& metric : metrics()) csv += fmt::format(",{}", metric.key);
  csv += '\n';
  for (const SystemResult& system : evaluation.systems) {
    for (size_t i = 0; i < system.clips.size(); ++i) {
      const TestClipPlan& plan = evaluation.plans[i];
      csv += fmt::format("{},{},{},{},{}", csv_field(system.name), i, split_name(plan.split),
                         plan.preset->name, data::mode_name(plan.mode));
      for (const double value : system.clips[i]) {
        csv += std::isfinite(value) ? fmt::format(",{:.6g}", value) : ",";
      }
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace hum::eval
