// The places where files enter the program: the functions that read them, and valid files to
// damage.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hum::fuzz {

struct Door {
  std::string name;
  std::string extension;           // ".wav"
  std::vector<std::string> files;  // the bytes of valid ones, small
  std::function<void(const std::filesystem::path&)> open;
  int64_t rounds = 0;  // damaged files in a quick run
};

// Uses `scratch` to make files.
std::vector<Door> all_doors(const std::filesystem::path& scratch);
// Those of `hum serve`, which are among them. Without ffmpeg, webm and m4a are missing.
std::vector<Door> service_doors(const std::filesystem::path& scratch);

}  // namespace hum::fuzz
