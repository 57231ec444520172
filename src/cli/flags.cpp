// Declares flags with CLI11.
#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace hum::cli {

std::string FlagVisitor::dashed(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '_' ? '-' : c;
  return text;
}

template <typename T>
void FlagVisitor::add_option(const std::string& flags, T& value, std::string_view help) {
  app_.add_option(flags, value, std::string(help))->capture_default_str();
}

template <typename T>
void FlagVisitor::add_positional(const std::string& name, T& value, std::string_view help,
                                 bool required) {
  app_.add_option(name, value, std::string(help))->required(required);
}

void FlagVisitor::rest(std::vector<std::string>& words) {
  app_.prefix_command();
  app_.final_callback([app = &app_, &words] { words = app->remaining(); });
}

void FlagVisitor::add_switch(const std::string& flag, bool& value, const std::string& help) {
  CLI::Option* on = app_.add_flag_callback(
      "--" + flag, [&value] { value = true; }, help);
  CLI::Option* off = app_.add_flag_callback(
      "--no-" + flag, [&value] { value = false; }, "turn off: " + help);
  (value ? on : off)->group("");
}

void FlagVisitor::add_choice(const std::string& flag, const std::string& names,
                             const std::string& chosen, const std::string& help,
                             std::function<void(const std::string&)> choose) {
  app_.add_option_function<std::string>(
          "--" + flag,
          [flag, choose = std::move(choose)](const std::string& text) {
            try {
              choose(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--" + flag, error.message());
            }
          },
          help)
      ->type_name(names)
      ->default_str(chosen);
}

#define HUM_FIELD_TYPE(T)                                                             \
  template void FlagVisitor::add_option<T>(const std::string&, T&, std::string_view); \
  template void FlagVisitor::add_positional<T>(const std::string&, T&, std::string_view, bool)
HUM_FIELD_TYPE(int64_t);
HUM_FIELD_TYPE(double);
HUM_FIELD_TYPE(std::string);
HUM_FIELD_TYPE(std::vector<int64_t>);
HUM_FIELD_TYPE(std::vector<double>);
HUM_FIELD_TYPE(std::vector<std::string>);
#undef HUM_FIELD_TYPE

}  // namespace hum::cli
