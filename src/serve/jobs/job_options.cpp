#include "serve/jobs/job_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "audio/notes_json.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/names.h"
#include "data/synthesis/presets.h"
#include "serve/jobs/song_jobs.h"

namespace hum::serve {
namespace {

// Stands for a sound that comes with the request while flags are checked.
constexpr const char* kPresent = "upload";

struct FieldNames {
  std::vector<std::string> names;
  template <typename T>
  void operator()(std::string_view name, T&, std::string_view) {
    names.emplace_back(name);
  }
};

std::vector<std::string> field_names() {
  JobOptions options;
  FieldNames fields;
  options.visit_fields(fields);
  return fields.names;
}

// Beyond this a double does not hold every whole number.
constexpr double kMostWhole = 9007199254740992;

struct FieldReader {
  const Json& json;

  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    const auto found = json.find(std::string(name));
    if (found == json.end()) return;
    try {
      read(*found, value);
    } catch (const Error& error) {
      fail(ExitCode::kUsage, fmt::format("options: {}: {}", name, error.message()),
           hint_for_callers(error));
    }
  }

 private:
  template <typename T>
  static void read(const Json& given, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (given.is_number()) {  // "tempo": 120
        value = to_text(given);
        return;
      }
    }
    if constexpr (std::is_same_v<T, int64_t>) {
      if (given.is_number_float() && std::abs(given.get<double>()) > kMostWhole) {
        fail(ExitCode::kUsage, to_text(given) + " is too large");
      }
    }
    internal::field_from_json(given, value);
  }
};

struct Schema {
  Json properties = Json::object();

  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view help) {
    Json property = {{"description", with_field_names(std::string(help))}};
    if constexpr (NamedEnum<T>) {
      property["type"] = "string";
      for (const auto& [unused, text] : enum_names(T{})) property["enum"].push_back(text);
      property["default"] = to_name(value);
    } else {
      if constexpr (std::is_same_v<T, bool>) {
        property["type"] = "boolean";
      } else if constexpr (std::is_same_v<T, int64_t>) {
        property["type"] = "integer";
      } else if constexpr (std::is_same_v<T, double>) {
        property["type"] = "number";
      } else {
        property["type"] = Json::array({"string", "number"});
      }
      property["default"] = value;
    }
    properties[std::string(name)] = property;
  }
};

void require_known(const Json& json) {
  const auto names = field_names();
  for (const auto& [key, unused] : json.items()) {
    if (std::ranges::find(names, key) != names.end()) continue;
    const auto nearest = nearest_names(key, names, 1);
    fail(ExitCode::kUsage, fmt::format("options: there is no field '{}'", key),
         fmt::format("the nearest one is '{}'; /openapi.json lists all", nearest[0]));
  }
}

void require_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  fail(ExitCode::kUsage, fmt::format("{} {} is outside {}..{}", name, value, low, high));
}

// Passes errors of the flags on as errors of the fields.
template <typename Check>
void check_fields(const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    fail(ExitCode::kUsage, with_field_names(error.message()), hint_for_callers(error));
  }
}

void require_task_fits(const JobOptions& options, const JobRequest& request) {
  const bool has_instrument = !options.preset.empty() || !request.timbre.empty();
  if (hears_song(request.task) && !request.notes.is_null()) {
    fail(ExitCode::kUsage, fmt::format("the task {} takes no notes", to_name(request.task)),
         "send a song, as the part 'audio' or the id of an upload");
  }
  if (request.task == Task::kNotes || request.task == Task::kSeparate) {
    if (!request.timbre.empty() || !request.backing.empty()) {
      fail(ExitCode::kUsage,
           fmt::format("the task {} takes neither timbre nor backing", to_name(request.task)),
           "leave them out");
    }
    return;
  }
  if (!options.preset.empty() && !request.timbre.empty()) {
    fail(ExitCode::kUsage, "the option preset and a timbre cannot be combined",
         "send only one of them");
  }
  if (!has_instrument) {
    fail(ExitCode::kUsage, "neither the option preset nor a timbre was given",
         R"("options": {"preset": "violin"}, or a recording as "timbre")");
  }
  const bool may_have_backing = request.task == Task::kGenerate;
  if (!may_have_backing && !request.backing.empty()) {
    fail(ExitCode::kUsage, fmt::format("the task {} takes no backing", to_name(request.task)),
         "leave it out");
  }
}

void require_preset(const std::string& name) {
  try {
    data::find_preset(name);
  } catch (const Error& error) {
    fail(ExitCode::kUsage, error.message(),
         fmt::format("the nearest names are {}; GET /v1/presets lists all",
                     fmt::join(data::nearest_presets(name), ", ")));
  }
}

}  // namespace

JobOptions parse_job_options(const Json& json, Task task) {
  if (!json.is_object()) {
    fail(ExitCode::kUsage, fmt::format("options: expected an object, got {}", json.type_name()),
         R"({"preset": "flute", "lm": true, "takes": 2})");
  }
  require_known(json);
  JobOptions options;
  if (task == Task::kArrange) options.score.snap = "1";
  if (task == Task::kRemix) options.hum.tuning = pipeline::Tuning::kOff;
  FieldReader reader{json};
  options.visit_fields(reader);
  return options;
}

void validate(const JobOptions& options, const JobRequest& request) {
  require_task_fits(options, request);
  require_range("takes", options.takes, 1, kMostTakes);
  auto performance =
      performance_options(options, request.timbre.empty() ? "" : kPresent,
                          request.backing.empty() ? "" : kPresent, audio::kDefaultMaxSeconds);
  auto& conversion = performance.conversion;
  check_fields([&] {
    if (request.task == Task::kNotes) conversion.preset = data::presets().front().name;
    if (!conversion.preset.empty()) require_preset(conversion.preset);
    if (hears_song(request.task)) {
      validate_song_job(options, request);
    } else if (request.task == Task::kArrange) {
      app::ArrangeOptions arranged;
      arranged.output = kPresent;
      arranged.lead = conversion;
      arranged.sound = options.sound;
      arranged.beats_per_bar = options.beats;
      app::validate(arranged);
    } else {
      app::validate(conversion);
      app::validate(performance.delivery, conversion.score);
    }
    app::validate_takes(options.takes, options.play);
    app::require_holds("take." + std::string(to_name(options.format)), options.sound);
  });
}

std::vector<audio::Note> parse_given_notes(const Json& json, double max_seconds) {
  std::vector<audio::Note> notes;
  try {
    notes = audio::notes_from_json(json, "notes");
  } catch (const Error& error) {
    fail(ExitCode::kUsage, error.message(), hint_for_callers(error));
  }
  if (notes.empty() || notes.size() > kMostNotes) {
    fail(ExitCode::kUsage,
         fmt::format("notes: {} of them; 1 to {} are accepted", notes.size(), kMostNotes));
  }
  double sounding_s = 0;
  for (const audio::Note& note : notes) sounding_s += note.end_s - note.start_s;
  if (sounding_s > kMostVoices * max_seconds) {
    fail(ExitCode::kUsage,
         fmt::format("notes: together they last {:.0f} s, the limit is {:g} s", sounding_s,
                     kMostVoices * max_seconds),
         "give fewer notes that overlap");
  }
  const double end_s = std::ranges::max(notes, {}, &audio::Note::end_s).end_s;
  if (end_s > max_seconds) {
    fail(ExitCode::kUsage, fmt::format("notes: the last one ends at {:.1f} s, the limit is {:g} s",
                                       end_s, max_seconds));
  }
  return notes;
}

app::PerformanceOptions performance_options(const JobOptions& options, const std::string& timbre,
                                            const std::string& backing, double max_seconds) {
  app::PerformanceOptions result;
  result.conversion.preset = options.preset;
  if (!timbre.empty()) result.conversion.timbre = {timbre};
  result.conversion.play = options.play;
  result.conversion.hum = options.hum;
  result.conversion.score = options.score;
  result.conversion.notes = options.notes;
  result.conversion.max_seconds = max_seconds;
  result.delivery.sound = options.sound;
  result.delivery.backing = backing;
  result.delivery.gain_db = options.gain_db;
  result.delivery.loop = options.loop;
  result.delivery.beats_per_bar = options.beats;
  result.format = options.format;
  result.takes = options.takes;
  result.style = options.style;
  return result;
}

Json job_options_schema() {
  JobOptions options;
  Schema schema;
  options.visit_fields(schema);
  schema.properties["takes"]["minimum"] = 1;
  schema.properties["takes"]["maximum"] = kMostTakes;
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(schema.properties)}};
}

}  // namespace hum::serve
