#include "cli/commands/made_data.h"

#include <iostream>

#include "base/log.h"
#include "base/names.h"

namespace hum::cli {

int report_made(const app::MadeItems& made, std::string_view unit, const std::string& output) {
  if (made.stop_signal != 0) {
    spdlog::warn("stopped; to resume, repeat the command");
    return 128 + made.stop_signal;
  }
  std::cout << (made.is_whole ? fmt::format("{} in {}\n", counted(made.count, unit), output)
                              : fmt::format("rank {} of {} is done; the others are not\n",
                                            made.rank.rank, made.rank.ranks));
  return 0;
}

}  // namespace hum::cli
