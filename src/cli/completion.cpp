#include "cli/completion.h"

#include <fmt/ranges.h>

#include <vector>

#include "data/synthesis/presets.h"

namespace hum::cli {
namespace {

bool takes_number(const FlagOutline& flag) {
  return flag.value == kNumber || flag.value == kWholeNumber;
}

// What the value of a flag may be; empty: a file, or anything.
std::vector<std::string> values_of(const FlagOutline& flag) {
  if (flag.value != kPreset) return flag.choices;
  std::vector<std::string> names;
  for (const data::Preset& preset : data::presets()) {
    names.emplace_back(preset.name);
    if (!preset.alias.empty()) names.emplace_back(preset.alias);
  }
  return names;
}

// "--output", "-o"; both spellings of a switch that is on by default.
std::vector<std::string> spellings(const FlagOutline& flag) {
  std::vector<std::string> all = {flag.name};
  if (!flag.off.empty()) all.push_back(flag.off);
  if (!flag.letter.empty()) all.push_back(flag.letter);
  return all;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A word in single quotes, for bash and zsh.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// For fish, which escapes differently.
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// 'hum notes' 'hum model' ...: every command but the program itself.
std::string quoted_names(const CommandOutline& program, const char* separator) {
  std::vector<std::string> names;
  for (const CommandOutline* command : all_of(program)) {
    if (command != &program) names.push_back(quoted(command->name));
  }
  return fmt::format("{}", fmt::join(names, separator));
}

// The cases of "COMMAND FLAG": what follows a flag that takes a value.
std::string bash_values(const CommandOutline& command) {
  std::string cases;
  for (const FlagOutline& flag : command.flags) {
    if (flag.is_positional || flag.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& spelling : spellings(flag)) {
      patterns.push_back(quoted(command.name + " " + spelling));
    }
    std::string action = "COMPREPLY=($(compgen -f -- \"$word\"))";
    if (takes_number(flag)) action = "compopt +o default";
    if (const auto names = values_of(flag); !names.empty()) {
      action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(names, " "));
    }
    cases += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), action);
  }
  return cases;
}

std::string bash_script(const CommandOutline& program) {
  std::string values, words;
  for (const CommandOutline* command : all_of(program)) {
    values += bash_values(*command);
    std::vector<std::string> flags, below;
    for (const FlagOutline& flag : command->flags) {
      if (flag.is_positional) continue;
      for (const auto& spelling : spellings(flag)) flags.push_back(spelling);
    }
    for (const CommandOutline& one : command->commands) below.push_back(one.last_word());
    words += fmt::format("    {}) flags='{}'; commands='{}' ;;\n", quoted(command->name),
                         fmt::join(flags, " "), fmt::join(below, " "));
  }
  return fmt::format(R"(# Completes hum in bash: source <(hum completion bash)
_hum() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} path=hum flags= commands= one
  COMPREPLY=()
  for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $one" in
      {}) path="$path $one" ;;
    esac
  done
  case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  case "$path" in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  fi
}}
complete -o filenames -o default -F _hum hum
)",
                     quoted_names(program, "|"), values, words);
}

// "hum model check" -> "_hum_model_check".
std::string zsh_function(const CommandOutline& command) {
  return "_" + replaced(command.name, " ", "_");
}

// Brackets and colons separate the parts of a specification.
std::string zsh_text(const std::string& text) {
  return replaced(replaced(replaced(text, "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string zsh_specification(const FlagOutline& flag) {
  const auto names = values_of(flag);
  const std::string action = !names.empty()       ? fmt::format("({})", fmt::join(names, " "))
                             : takes_number(flag) ? " "
                                                  : "_files";
  if (flag.is_positional) {
    return quoted(fmt::format("{}:{}:_files", flag.takes_several ? "*" : "", flag.name));
  }
  const std::string value =
      flag.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(flag.value), action);
  std::string all;
  for (const auto& spelling : spellings(flag)) {
    all += (all.empty() ? "" : " \\\n    ") +
           quoted(fmt::format("{}{}[{}]{}", flag.takes_several ? "*" : "", spelling,
                              zsh_text(flag.help), value));
  }
  return all;
}

std::string zsh_script(const CommandOutline& program) {
  std::string text = "#compdef hum\n# Completes hum in zsh: source <(hum completion zsh)\n";
  for (const CommandOutline* command : all_of(program)) {
    text += fmt::format("\n{}() {{\n  local curcontext=\"$curcontext\" line state\n  _arguments -C",
                        zsh_function(*command));
    for (const FlagOutline& flag : command->flags) text += " \\\n    " + zsh_specification(flag);
    if (command->commands.empty()) {
      text += "\n}\n";
      continue;
    }
    text +=
        " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n"
        "    command)\n      local -a commands=(\n";
    std::string calls;
    for (const CommandOutline& one : command->commands) {
      text += fmt::format("        {}\n", quoted(one.last_word() + ":" + one.summary));
      calls += fmt::format("        {}) {} ;;\n", one.last_word(), zsh_function(one));
    }
    text += fmt::format(
        "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n{}"
        "      esac ;;\n  esac\n}}\n",
        calls);
  }
  // zsh calls the file itself if it is in $fpath.
  return text + "\nif [ \"$funcstack[1]\" = _hum ]; then _hum \"$@\"; else compdef _hum hum; fi\n";
}

std::string fish_script(const CommandOutline& program) {
  std::string text = fmt::format(R"(# Completes hum in fish: hum completion fish | source
function __hum_path
    set -l path hum
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
            case {}
                set path "$path $word"
        end
    end
    echo $path
end
)",
                                 quoted_names(program, " "));
  for (const CommandOutline* command : all_of(program)) {
    const std::string start =
        fmt::format("complete -c hum -n 'test (__hum_path) = \"{}\"'", command->name);
    for (const CommandOutline& one : command->commands) {
      text += fmt::format("{} -f -a {} -d {}\n", start, one.last_word(), fish_quoted(one.summary));
    }
    for (const FlagOutline& flag : command->flags) {
      if (flag.is_positional) continue;
      std::string value = flag.value.empty() ? "" : takes_number(flag) ? " -x" : " -r -F";
      if (const auto names = values_of(flag); !names.empty()) {
        value = fmt::format(" -x -a '{}'", fmt::join(names, " "));
      }
      for (const auto& spelling : spellings(flag)) {
        const bool is_long = spelling.starts_with("--");
        text += fmt::format("{} -{} {}{} -d {}\n", start, is_long ? "l" : "s",
                            spelling.substr(is_long ? 2 : 1), value, fish_quoted(flag.help));
      }
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CommandOutline& program, Shell shell) {
  switch (shell) {
    case Shell::kBash:
      return bash_script(program);
    case Shell::kZsh:
      return zsh_script(program);
    case Shell::kFish:
      break;
  }
  return fish_script(program);
}

}  // namespace hum::cli
