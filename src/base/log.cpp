#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <set>

#include "base/env.h"
#include "base/error.h"

namespace hum {

void init_logging() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto logger = spdlog::stderr_color_mt("hum");
    logger->set_pattern("%^%l%$: %v");
    const std::string level = env_string("HUM_LOG", "info");
    const auto parsed = spdlog::level::from_str(level);
    if (parsed == spdlog::level::off && level != "off") {
      fail(ExitCode::kUsage, fmt::format("HUM_LOG: unknown level '{}'", level),
           "use one of trace, debug, info, warn, error, off");
    }
    logger->set_level(parsed);
    spdlog::set_default_logger(logger);
  });
}

void warn_once(const std::string& key, const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    std::lock_guard lock(mutex);
    if (!seen.insert(key).second) return;
  }
  spdlog::warn(text);
}

Progress::Progress(std::string what, int64_t total)
    : what_(std::move(what)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() {
  if (drawn_ && is_terminal_) std::fputc('\n', stderr);
}

void Progress::update(int64_t done, const std::string& detail) {
  if (!spdlog::should_log(spdlog::level::info)) return;
  if (first_ < 0) first_ = done;
  const auto now = std::chrono::steady_clock::now();
  const auto pause = is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(30);
  if (now - last_ < pause && done < total_) return;
  last_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{} {}/{}", what_, done, total_);
  if (!detail.empty()) line += "  " + detail;
  if (done > first_ && done < total_) {
    const double per_item_s = elapsed_s / static_cast<double>(done - first_);
    line += "  ETA " + format_duration(per_item_s * static_cast<double>(total_ - done));
  } else if (done >= total_) {
    line += "  took " + format_duration(elapsed_s);
  }
  std::fprintf(stderr, is_terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

std::string format_duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f}ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}m {:02d}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02d}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace hum
