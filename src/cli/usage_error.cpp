#include "cli/usage_error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/names.h"
#include "cli/command_tree.h"
#include "cli/help.h"

namespace hum::cli {
namespace {

using Words = std::vector<std::string>;

// The command that the arguments name, and what the parser could not place.
struct Parsed {
  const CLI::App* app = nullptr;
  std::string name;  // "hum model check"
  Words words;
  bool runs_others = false;  // its words are the command line of another command

  explicit Parsed(const CLI::App& root) : app(&root), name("hum"), words(root.remaining()) {
    while (!app->get_subcommands().empty()) {
      app = app->get_subcommands().front();
      name += " " + app->get_name();
      runs_others = app->get_prefix_command();
      const Words more = runs_others ? Words() : app->remaining();
      words.insert(words.end(), more.begin(), more.end());
    }
    std::erase(words, "--");
  }
  CommandOutline outline() const { return outline_of(*app, name); }
};

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::string_view("0123456789.").find(word[1]) == std::string_view::npos;
}

std::string help_hint(const std::string& command) {
  return fmt::format("'{} --help' lists its flags", command);
}

// Whether the word stands before the command that the arguments name.
bool comes_first(const Parsed& parsed, const Words& arguments, const std::string& word) {
  const size_t end = parsed.name.find(' ', 4);  // after "hum generate"
  if (parsed.name.size() < 4) return true;
  const std::string first = parsed.name.substr(4, end == std::string::npos ? end : end - 4);
  return std::ranges::find(arguments, word) < std::ranges::find(arguments, first);
}

[[noreturn]] void fail_flag(const CommandOutline& command, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  Words flags;
  for (const FlagOutline& known : command.flags) {
    if (!known.is_positional) flags.push_back(known.name);
    if (!known.off.empty()) flags.push_back(known.off);
  }
  const std::string problem = fmt::format("{} has no flag {}", command.name, flag);
  if (std::error_code ignored; std::filesystem::exists(word, ignored)) {
    fail(ExitCode::kUsage, problem,
         fmt::format("for the file of that name, write ./{0}, or -- {0} after all flags", word));
  }
  const auto likely = likely_name(flag, flags);
  fail(ExitCode::kUsage, problem,
       (likely ? fmt::format("did you mean {}? ", *likely) : "") + help_hint(command.name));
}

// A word before the command, or after one that only has commands.
std::optional<std::string> unknown_command(const Parsed& parsed, const Words& arguments) {
  if (parsed.words.empty() || parsed.runs_others || is_flag(parsed.words[0])) return std::nullopt;
  const std::string& word = parsed.words[0];
  const bool has_commands = !parsed.app->get_subcommands({}).empty();
  return has_commands || comes_first(parsed, arguments, word) ? std::optional(word) : std::nullopt;
}

// A flag that took several words, among them perhaps those of a positional argument.
const CLI::Option* flag_of_several(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool takes_several = !option->get_positional() && option->get_expected_max() > 1;
    if (takes_several && option->results().size() > 1) return option;
  }
  return nullptr;
}

[[noreturn]] void fail_missing(const Parsed& parsed, const std::string& what) {
  const CommandOutline command = parsed.outline();
  const std::string example = command.footer.substr(command.footer.rfind("  ") + 2);
  if (command.needs_command) {
    Words names;
    for (const CommandOutline& below : command.commands) names.push_back(below.name);
    fail(ExitCode::kUsage, fmt::format("{} needs a command", command.name),
         parsed.name == "hum" ? "'hum --help' lists the commands; start with: " + example
                              : fmt::format("{}", fmt::join(names, ", or ")));
  }
  std::string wanted = what, hint = "for example: " + example;
  if (const CLI::Option* option = parsed.app->get_option_no_throw(what)) {
    const auto flag =
        std::ranges::find(command.flags, option->get_description(), &FlagOutline::help);
    if (flag != command.flags.end()) wanted = fmt::format("{} ({})", flag->name, flag->help);
    const CLI::Option* taker = flag_of_several(*parsed.app);
    if (option->get_positional() && taker != nullptr) {
      hint = fmt::format("{} takes all words up to the next flag; write {} before it",
                         taker->get_name(), flag->name);
    }
  }
  fail(ExitCode::kUsage, fmt::format("{} needs {}", command.name, wanted), hint);
}

// The option that a message of the parser names first ("--rate: 1 required INT missing").
const CLI::Option* option_in(const Parsed& parsed, const std::string& message) {
  const size_t start = message.find("--");
  if (start == std::string::npos) return nullptr;
  const std::string name = message.substr(start, message.find_first_of(": =", start) - start);
  for (const CLI::App* app = parsed.app; app != nullptr; app = app->get_parent()) {
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

// "--output TEXT: file to write".
std::string value_hint(const CLI::Option& option) {
  return fmt::format("{} {}: {}", option.get_name(), option.get_type_name(),
                     option.get_description());
}

// Negative numbers, and "-" for a standard stream, are values.
bool is_flag_in_place_of_value(const CLI::App& app, const std::string& word) {
  return word.starts_with("--") ||
         (word.starts_with('-') && app.get_option_no_throw(word) != nullptr);
}

// The parser would take the nearest number that it can hold. It reads 0x10 as 16.
bool is_beyond_whole_numbers(const std::string& word) {
  errno = 0;
  std::strtoll(word.c_str(), nullptr, 0);
  return errno == ERANGE;
}

void refuse_value(const CLI::App& app, const CLI::Option& option, const std::string& word) {
  const std::string name = option.get_name();
  // "--" may stand before the words of a positional argument.
  if (!option.get_positional() && is_flag_in_place_of_value(app, word)) {
    fail(ExitCode::kUsage, fmt::format("{} needs a value, but {} follows", name, word),
         value_hint(option));
  }
  if (option.get_type_name() == kWholeNumber && is_beyond_whole_numbers(word)) {
    fail(ExitCode::kUsage,
         fmt::format("{}: '{}' is too {}", name, word, word.starts_with('-') ? "small" : "large"),
         value_hint(option));
  }
}

void refuse_misread_values(const Parsed& parsed) {
  for (const CLI::App* app = parsed.app; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& word : option->results()) refuse_value(*parsed.app, *option, word);
    }
  }
}

[[noreturn]] void fail_value(const Parsed& parsed, const CLI::Option& option,
                             const CLI::ParseError& error) {
  const std::string name = option.get_name(), type = option.get_type_name();
  const Words values = option.results();
  const std::string hint = value_hint(option);
  if (values.empty()) fail(ExitCode::kUsage, fmt::format("{} needs a value", name), hint);
  const bool is_list = option.get_expected_max() > 1;
  if (values.size() > 1 && !is_list) {
    fail(ExitCode::kUsage, fmt::format("{} is given {} times", name, values.size()),
         fmt::format("give it once; {}", help_hint(parsed.name)));
  }
  if (values.size() == 1 && !is_list && error.get_name() == "ArgumentMismatch") {
    fail(ExitCode::kUsage,
         fmt::format("{} is given 2 times, the second time without a value", name),
         fmt::format("give it once; {}", help_hint(parsed.name)));
  }
  if (type == kNumber || type == kWholeNumber) {
    fail(ExitCode::kUsage,
         fmt::format("{}: '{}' is not a {}number", name, fmt::join(values, " "),
                     type == kWholeNumber ? "whole " : ""),
         hint);
  }
  fail(ExitCode::kUsage, fmt::format("{}: '{}' is not allowed", name, fmt::join(values, " ")),
       hint);
}

// A switch that was given a value, or on and off.
void refuse_switches(const Parsed& parsed, const std::string& message) {
  const size_t value = message.find(" was given a disallowed flag override");
  if (value != std::string::npos) {
    fail(ExitCode::kUsage, fmt::format("--{} takes no value", message.substr(0, value)),
         fmt::format("write --{} alone; {}", message.substr(0, value), help_hint(parsed.name)));
  }
  constexpr std::string_view kExcludes = " excludes ";
  const size_t other = message.find(kExcludes);
  if (other == std::string::npos) return;
  // The library leaves out the names of hidden flags; here these are the --no- forms of others.
  std::string one = message.substr(0, other), two = message.substr(other + kExcludes.size());
  if (one.empty()) std::swap(one, two);
  if (two.empty()) two = "--no-" + one.substr(2);
  fail(ExitCode::kUsage, fmt::format("{} and {} are both given", one, two),
       "leave one of them out");
}

}  // namespace

void refuse_words_beside_version(const CLI::App& root) {
  const Parsed parsed(root);
  if (parsed.words.empty()) return;
  fail(ExitCode::kUsage,
       fmt::format("hum --version takes no further argument: '{}'", parsed.words[0]),
       "hum --version");
}

void refuse_unknown_commands(const CLI::App& root, const Words& arguments) {
  const Parsed parsed(root);
  const auto word = unknown_command(parsed, arguments);
  if (!word) return;
  const bool is_below = !parsed.app->get_subcommands({}).empty();
  refuse_command(is_below ? parsed.outline() : outline_of(root, "hum"), *word);
}

void refuse_misread_values(const CLI::App& root) { refuse_misread_values(Parsed(root)); }

void fail_usage(const CLI::App& root, const Words& arguments, const CLI::ParseError& error) {
  refuse_unknown_commands(root, arguments);
  const Parsed parsed(root);
  refuse_misread_values(parsed);
  const auto flag = std::ranges::find_if(parsed.words, is_flag);
  if (flag != parsed.words.end()) {
    fail_flag(comes_first(parsed, arguments, *flag) ? outline_of(root, "hum") : parsed.outline(),
              *flag);
  }
  const std::string message = error.what();
  if (error.get_name() == "RequiredError") {
    fail_missing(parsed, message.substr(0, message.find(" is required")));
  }
  if (!parsed.words.empty()) {
    fail(ExitCode::kUsage,
         fmt::format("{} takes no further argument: '{}'", parsed.name, parsed.words[0]),
         fmt::format("usage: {} {}", parsed.name, usage_of(parsed.outline())));
  }
  refuse_switches(parsed, message);
  if (const CLI::Option* option = option_in(parsed, message)) fail_value(parsed, *option, error);
  fail(ExitCode::kUsage, message, help_hint(parsed.name));
}

}  // namespace hum::cli
