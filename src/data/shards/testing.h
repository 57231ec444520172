// For tests and bars: the files of the samples of a folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "data/shards/manifest.h"
#include "data/shards/tar.h"

namespace hum::data {

// The SHA-256 of every file of the samples in the listed shards, by name. Throws if a name comes
// twice.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const ShardEntry& shard : read_manifest(folder).shards) {
    const std::string archive = read_file(folder / shard.name);
    for (const TarMember& member : tar_members(archive)) {
      HUM_REQUIRE(files.emplace(member.name, sha256(member.bytes)).second, "{}: {} is listed twice",
                  folder.string(), member.name);
    }
  }
  return files;
}

}  // namespace hum::data
