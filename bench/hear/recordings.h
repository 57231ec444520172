// Recordings of real people, which only judge. They lie beside the repository, not in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/hear/ears.h"

namespace hum::bench::hear {

// ../shared/data/voices, as seen from the repository.
std::filesystem::path voices_folder();
// Why it cannot be used; empty if it is there.
std::string recordings_missing();

// As every command reads a recording.
Sound read_sound(const std::filesystem::path& path);

// The recordings below a folder, by path; a file: itself.
std::vector<std::filesystem::path> sounds_below(const std::filesystem::path& folder);

// All recordings of the folder of voices, and the example in the repository, by path.
std::vector<std::filesystem::path> all_recordings();

}  // namespace hum::bench::hear
