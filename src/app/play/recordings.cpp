#include "app/play/recordings.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "app/play/outputs.h"
#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// Levels of subfolders: of --recursive, and to look for recordings that a hint can mention.
constexpr int kAllLevels = 64, kHintLevels = 3;

// Adds the recordings in `folder` and `levels` levels below it. Returns why it cannot be read.
// NOLINTNEXTLINE(misc-no-recursion)
std::error_code add_recordings(const fs::path& folder, int levels, IsRecording is_recording,
                               std::vector<fs::path>& found) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code fault;
    if (at->is_directory(fault)) {
      // Links may lead back to this folder.
      if (levels == 0 || at->is_symlink(fault)) continue;
      const std::error_code unread = add_recordings(path, levels - 1, is_recording, found);
      if (unread) spdlog::warn("{}: is skipped: {}", path.string(), unread.message());
      continue;
    }
    if (is_recording(path) && (at->is_regular_file(fault) || fault)) found.push_back(path);
  }
  return error;
}

std::vector<fs::path> recordings_in(const fs::path& folder, bool recursive,
                                    IsRecording is_recording) {
  std::vector<fs::path> found;
  const std::error_code error =
      add_recordings(folder, recursive ? kAllLevels : 0, is_recording, found);
  if (error) {
    fail(error == std::errc::permission_denied ? ExitCode::kNoPermission : ExitCode::kNoInput,
         fmt::format("{}: cannot be read: {}", folder.string(), error.message()),
         "check its permissions (ls -ld)");
  }
  if (!found.empty()) {
    std::ranges::sort(found);
    return found;
  }
  std::vector<fs::path> below;
  if (!recursive) add_recordings(folder, kHintLevels, is_recording, below);
  std::ranges::sort(below);
  std::string hint = "hum reads wav, flac, ogg and mp3";
  if (!below.empty()) {
    hint = fmt::format("its subfolders do, {} for example: add --recursive",
                       below[0].lexically_relative(folder).string());
  } else if (is_recording == is_named_as_recording) {
    hint = "hum reads wav, flac, ogg, mp3, m4a and webm";
  }
  fail(ExitCode::kNoInput, folder.string() + ": holds no recordings", hint);
}

std::string name_of(const fs::path& recording) {
  return is_standard_stream(recording) ? "stdin" : recording.stem().string();
}

// take.wav and take.mp3 become take-wav and take-mp3.
void tell_apart(std::vector<FoundRecording>& recordings) {
  std::map<std::pair<fs::path, std::string>, int> count;
  for (const auto& recording : recordings) ++count[{recording.subfolder, recording.name}];
  for (auto& recording : recordings) {
    const std::string extension = recording.path.extension().string();
    if (count[{recording.subfolder, recording.name}] == 1 || extension.empty()) continue;
    recording.name += "-" + extension.substr(1);
  }
}

}  // namespace

void require_stdin_once(std::span<const std::string> files, const std::string& other) {
  const auto given =
      std::ranges::count(files, kStandardStream) + (other == kStandardStream ? 1 : 0);
  if (given < 2) return;
  fail(ExitCode::kUsage, "stdin can be read only once, and - is given more often",
       "name a file for the others");
}

bool is_named_as_sound(const fs::path& path) {
  return std::ranges::find(kSoundExtensions, audio::extension_of(path)) != kSoundExtensions.end();
}

bool is_named_as_recording(const fs::path& path) {
  const std::string extension = audio::extension_of(path);
  return is_named_as_sound(path) || extension == ".webm" || extension == ".m4a";
}

std::vector<FoundRecording> find_recordings(const std::vector<std::string>& inputs, bool recursive,
                                            IsRecording is_recording) {
  std::vector<FoundRecording> recordings;
  for (const std::string& input : inputs) {
    const fs::path folder = input;
    if (!is_folder(folder)) {
      recordings.push_back({folder, {}, name_of(folder)});
      continue;
    }
    for (const fs::path& path : recordings_in(folder, recursive, is_recording)) {
      const fs::path below = path.lexically_relative(folder).parent_path();
      recordings.push_back({path, below, name_of(path)});
    }
  }
  tell_apart(recordings);
  return recordings;
}

}  // namespace hum::app
