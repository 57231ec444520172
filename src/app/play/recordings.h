// Finds the recordings that the inputs of a command name.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hum::app {

struct FoundRecording {
  std::filesystem::path path;       // "-": stdin
  std::filesystem::path subfolder;  // below the folder that was given; empty: directly in it
  std::string name;                 // for its outputs, unique among those of one subfolder
};

// Throws: kUsage when "-" is more than once among the files to read, which are these and `other`.
void require_stdin_once(std::span<const std::string> files, const std::string& other = "");

bool is_named_as_sound(const std::filesystem::path& path);
// Also by webm and m4a, in which browsers and phones record: decode/read.h reads them.
bool is_named_as_recording(const std::filesystem::path& path);
using IsRecording = bool (*)(const std::filesystem::path& path);

// See plan_outputs. Throws: kNoInput for a folder without recordings, kNoPermission for one that
// cannot be read. Warns of subfolders that cannot be read.
// `is_recording` chooses the files of folders.
std::vector<FoundRecording> find_recordings(const std::vector<std::string>& inputs, bool recursive,
                                            IsRecording is_recording = is_named_as_recording);

}  // namespace hum::app
