#include "app/extraction/recording_table.h"

#include "base/error.h"

namespace hum::app {

void TableCounts::set(RecordingState state, int64_t count, double seconds_of_them,
                      const WindowCounts& of_them) {
  switch (state) {
    case RecordingState::kWaiting:
      waiting = count;
      break;
    case RecordingState::kClaimed:
      claimed = count;
      break;
    case RecordingState::kFailed:
      failed = count;
      break;
    case RecordingState::kDuplicate:
      duplicate = count;
      break;
    case RecordingState::kDone:
      done = count;
      seconds = seconds_of_them;
      windows = of_them;
      break;
  }
}

std::string too_many_attempts() {
  return fmt::format("{} processes ended while they worked on it", RecordingTable::kMostAttempts);
}

void require_same_options(const std::string& stored, const Json& wanted, const std::string& place) {
  if (stored == to_text(wanted)) return;
  fail(ExitCode::kUsage,
       place + ": holds features of another codec, another version of hum or other flags",
       "choose another folder with -o, or use the same --weights and --keep-audio");
}

}  // namespace hum::app
