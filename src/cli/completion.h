// Scripts that complete hum's command line in a shell.
#pragma once

#include <string>

#include "base/enum_names.h"
#include "cli/outline.h"

namespace hum::cli {

enum class Shell { kBash, kZsh, kFish };
inline EnumNames<Shell> enum_names(Shell) {
  static constexpr std::pair<Shell, std::string_view> kNames[] = {
      {Shell::kBash, "bash"}, {Shell::kZsh, "zsh"}, {Shell::kFish, "fish"}};
  return kNames;
}

// Completes commands, flags and the names that a flag takes; files for other text.
std::string completion_script(const CommandOutline& program, Shell shell);

}  // namespace hum::cli
