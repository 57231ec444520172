// Converts structs with visit_fields to JSON, and from JSON and YAML files. Separate from fields.h,
// which most headers include, because the JSON library takes longer to compile than the rest of
// base.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/fields.h"
#include "base/json.h"

namespace hum {

namespace internal {

template <typename T>
Json field_to_json(T& value);
template <typename T>
void field_from_json(const Json& json, T& value);

struct JsonWriter {
  Json result = Json::object();
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    result[std::string(name)] = field_to_json(value);
  }
};

struct JsonReader {
  const Json& source;
  std::vector<std::string> known;
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    known.emplace_back(name);
    const auto found = source.find(known.back());
    if (found == source.end()) return;
    const ErrorContext context([&] { return fmt::format("reading field '{}'", known.back()); });
    field_from_json(*found, value);
  }
  void refuse_unknown() const {
    for (const auto& [key, unused] : source.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      std::string names;
      for (const auto& name : known) names += (names.empty() ? "" : ", ") + name;
      fail(ExitCode::kConfig, fmt::format("unknown field '{}'", key), "the fields are: " + names);
    }
  }
};

template <typename T>
Json field_to_json(T& value) {
  if constexpr (Fields<T>) {
    JsonWriter writer;
    value.visit_fields(writer);
    return writer.result;
  } else if constexpr (NamedEnum<T>) {
    return std::string(to_name(value));
  } else {
    return value;
  }
}

// Throws kConfig for 2.5 where a whole number belongs (2.0 is one), and for 1e99, which is larger
// than any.
inline void require_whole(const Json& json) {
  if (json.is_number_float() && json.get<double>() != std::trunc(json.get<double>())) {
    fail(ExitCode::kConfig, fmt::format("{} is not a whole number", to_text(json)),
         "write it without a fraction");
  }
  const bool is_large = json.is_number_float() ? std::fabs(json.get<double>()) >= 0x1p63
                                               : json.is_number_unsigned() &&
                                                     !std::in_range<int64_t>(json.get<uint64_t>());
  if (is_large) {
    fail(ExitCode::kConfig, fmt::format("{} is out of range", to_text(json)),
         "write a whole number of at most 18 digits");
  }
}

template <typename T>
void field_from_json(const Json& json, T& value) {
  if constexpr (Fields<T>) {
    if (!json.is_object()) {
      fail(ExitCode::kConfig, fmt::format("expected a mapping, got {}", json.type_name()),
           "write 'name: value' lines");
    }
    JsonReader reader{json, {}};
    value.visit_fields(reader);
    reader.refuse_unknown();
  } else if constexpr (NamedEnum<T>) {
    if (!json.is_string()) {
      fail(ExitCode::kConfig, fmt::format("expected a name, got {}", to_text(json)),
           "write one of the names that the field knows");
    }
    value = from_name<T>(json.get<std::string>());
  } else {
    if constexpr (std::is_same_v<T, int64_t>) require_whole(json);
    try {
      value = json.get<T>();
    } catch (const Json::exception&) {
      fail(ExitCode::kConfig, fmt::format("wrong type: {}", to_text(json)));
    }
  }
}

}  // namespace internal

template <Fields T>
Json to_json(T& config) {
  return internal::field_to_json(config);
}

// Absent fields keep their value. Throws kConfig on unknown fields and wrong types.
template <Fields T>
void from_json(const Json& json, T& config) {
  internal::field_from_json(json, config);
}

// Reads a YAML file as JSON (numbers, booleans, strings, lists, mappings). Throws kNoInput,
// kBadData if it is not UTF-8, and kConfig with line numbers.
Json read_yaml(const std::filesystem::path& path);

template <Fields T>
void read_config(const std::filesystem::path& path, T& config) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  from_json(read_yaml(path), config);
}

}  // namespace hum
