// Errors of the program's flags in terms of the API: fields of JobOptions in place of flags.
#include <algorithm>

#include "base/json.h"
#include "serve/jobs/job_options.h"

namespace hum::serve {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the flag that starts at `i` ends; `i` if no flag starts there.
size_t end_of_flag(const std::string& text, size_t i) {
  const bool is_word_start = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
  if (!is_word_start || text.compare(i, 2, "--") != 0 || i + 2 >= text.size() ||
      !is_letter(text[i + 2])) {
    return i;
  }
  size_t end = i + 2;
  while (end < text.size() && (is_letter(text[end]) || text[end] == '-')) ++end;
  return end;
}

// The value after a flag that ends at `end`: a number, a key such as C:major, auto or off. Empty:
// another word follows.
std::string value_after(const std::string& text, size_t end) {
  if (end >= text.size() || text[end] != ' ') return "";
  const std::string word = text.substr(end + 1, text.find_first_of(" ,;)", end + 1) - end - 1);
  if (word.empty()) return "";
  const bool is_number = is_digit(word.back()) && (is_digit(word[0]) || word[0] == '-');
  const bool is_key = word.find(':') != std::string::npos && word.back() != ':';
  return is_number || is_key || word == "auto" || word == "off" ? word : "";
}

// "tempo": 100. Fields that take only texts get the number as one.
std::string as_json(const std::string& field, const std::string& value) {
  const Json schema = job_options_schema();
  const Json& fields = schema["properties"];
  const bool is_text = fields.contains(field) && fields[field]["type"] == "string";
  const Json number = try_parse_json(value);
  return fmt::format("\"{}\": {}", field,
                     !is_text && number.is_number() ? value : to_text(Json(value)));
}

// Replaces flags by fields, in a hint also their values by JSON.
std::string without_flags(const std::string& text, bool is_hint) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t end = end_of_flag(text, i);
    if (end == i) {
      result += text[i++];
      continue;
    }
    std::string field = text.substr(i + 2, end - i - 2);
    std::ranges::replace(field, '-', '_');
    const std::string value = is_hint ? value_after(text, end) : "";
    result += value.empty() ? field : as_json(field, value);
    i = value.empty() ? end : end + 1 + value.size();
  }
  return result;
}

}  // namespace

std::string with_field_names(const std::string& text) { return without_flags(text, false); }

std::string hint_for_callers(const Error& error) {
  const Error usual(error.code(), "", "");
  return error.hint() == usual.hint() ? "" : without_flags(error.hint(), true);
}

}  // namespace hum::serve
