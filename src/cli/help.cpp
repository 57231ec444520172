#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace hum::cli {
namespace {

constexpr size_t kColumns = 100, kRightColumn = 28;

// The titles of the groups that are shown, in order of their first flags; common flags come last.
std::vector<std::string> titles_of(const CommandOutline& command, bool is_complete) {
  std::vector<std::string> titles;
  for (const FlagOutline& flag : command.flags) {
    if (flag.is_positional || flag.group == kResearchFlags || flag.group == kCommonFlags) continue;
    if (std::ranges::find(titles, flag.group) == titles.end()) titles.push_back(flag.group);
  }
  if (is_complete) titles.emplace_back(kResearchFlags);
  titles.emplace_back(kCommonFlags);
  return titles;
}

std::string group_text(const CommandOutline& command, std::string_view title) {
  std::string rows;
  for (const FlagOutline& flag : command.flags) {
    if (flag.is_positional || flag.group != title) continue;
    rows += two_columns(spelling_of(flag), description_of(flag));
  }
  return rows.empty() ? "" : fmt::format("\n{}:\n{}", title, rows);
}

}  // namespace

std::string two_columns(std::string_view left, std::string_view right) {
  const bool fits = left.size() + 3 < kRightColumn;
  std::string text = fits ? fmt::format("  {:<{}}", left, kRightColumn - 2)
                          : fmt::format("  {}\n{:{}}", left, "", kRightColumn);
  size_t column = kRightColumn;
  std::istringstream words{std::string(right)};
  for (std::string word; words >> word;) {
    if (column > kRightColumn && column + 1 + word.size() > kColumns) {
      text += fmt::format("\n{:{}}", "", kRightColumn);
      column = kRightColumn;
    }
    const std::string space = column > kRightColumn ? " " : "";
    text += space + word;
    column += space.size() + word.size();
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string spelling_of(const FlagOutline& flag) {
  std::string text = flag.letter.empty() ? "" : flag.letter + ", ";
  text += flag.off.empty() ? flag.name : "--[no-]" + flag.name.substr(2);
  if (!flag.value.empty() && !flag.is_positional) text += " " + flag.value;
  return text + (flag.takes_several ? "..." : "");
}

std::string description_of(const FlagOutline& flag) {
  const std::string value = flag.off.empty() ? flag.default_value : "on";
  std::string text = flag.help;
  if (value.empty() || text.find("default") != std::string::npos) return text;
  if (!text.ends_with(')')) return fmt::format("{} (default: {})", text, value);
  text.pop_back();
  return fmt::format("{}; default: {})", text, value);
}

std::string usage_of(const CommandOutline& command) {
  if (command.needs_command) return "COMMAND [FLAGS]";
  std::string usage;
  for (const FlagOutline& flag : command.flags) {
    if (!flag.is_positional) continue;
    const std::string word = flag.name + (flag.takes_several ? "..." : "");
    usage += flag.is_required ? word + " " : "[" + word + "] ";
  }
  return usage + "[FLAGS]";
}

std::string help_text(const CommandOutline& command, bool is_complete) {
  std::string text = fmt::format("{}: {}\n\nUsage: {} {}\n", command.name, command.summary,
                                 command.name, usage_of(command));
  if (!command.needs_command && !command.commands.empty()) {
    text += fmt::format("   or: {} COMMAND [FLAGS]\n", command.name);
  }
  std::string rows;
  for (const FlagOutline& flag : command.flags) {
    if (flag.is_positional) rows += two_columns(spelling_of(flag), description_of(flag));
  }
  if (!rows.empty()) text += "\n" + rows;
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandOutline& below : command.commands) {
    text += two_columns(below.last_word(), below.summary);
  }
  for (const std::string& title : titles_of(command, is_complete)) {
    text += group_text(command, title);
  }
  if (!command.footer.empty()) text += "\n" + command.footer + "\n";
  if (!is_complete) return text;
  for (const CommandOutline& below : command.commands) {
    text += "\n\n" + help_text(below, is_complete);
  }
  return text;
}

}  // namespace hum::cli
